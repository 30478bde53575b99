"""Bounds on figures as a scenario writes them: ends, window, subjects, and the effect of a missed bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from chaosk.core.model import Model
from chaosk.core.suggest import instead
from chaosk.spec.metrics import Metric

BOUND_KEYS = ("min", "max", "during", "of", "or")
"""The keys of a bound; a mapping with other keys maps subjects to bounds."""
_MISSED = (None, "inconclusive")

Loc = tuple[int | str, ...]
Subjects = dict[str, tuple["Bound", ...]]


class Bound(Model):
    """A bound on one figure, in the unit of its metric (``chaosk.spec.metrics``); it has at least one end."""

    min: float | None = None
    max: float | None = None
    during: str = "run"
    """The window: ``run``, ``baseline``, ``after_heal``, or the name of a timeline entry."""
    of: tuple[str, ...] = ()
    """Subjects whose figures are combined; empty: the subject that it is listed under, or all."""
    or_: Annotated[Literal["inconclusive"] | None, Field(alias="or")] = None
    """Verdict of the run if the bound is missed, instead of degraded: the run did not show what it was made for."""


def parse_bounds(metric: Metric, value: object) -> Subjects:
    """Parse ``value`` into the bounds by subject (empty: the whole run), from any spelling.

    ``20s`` | ``{min: 1s, max: 20s, during: kill}`` | a list of these | ``{writer: any of these}``; without a subject
    also ``{of: [writer, second], min: 1000}``. Raises pydantic's ValidationError with one located error for each
    mistake.
    """
    found: list[tuple[str, Loc, object]] = []
    if isinstance(value, Mapping) and not any(key in value for key in BOUND_KEYS):
        found.extend((str(name), (str(name),), each) for name, each in value.items())
    else:
        found.append(("", (), value))
    errors: list[InitErrorDetails] = []
    bounds = {name: _several(metric, each, loc, errors) for name, loc, each in found}
    if not bounds:
        errors.append(_error((), value, f"bounds nothing; write {metric.name}: {metric.sample}"))
    if errors:
        raise ValidationError.from_exception_data(metric.name, errors)
    return bounds


def _several(metric: Metric, value: object, loc: Loc, errors: list[InitErrorDetails]) -> tuple[Bound, ...]:
    if isinstance(value, Bound):
        return (value,)
    if not isinstance(value, list | tuple):
        return (_bound(metric, value, loc, errors),)
    if not value:
        errors.append(_error(loc, value, f"an empty list bounds nothing; write [{metric.sample}]"))
    return tuple(_bound(metric, each, (*loc, place), errors) for place, each in enumerate(value))


def _bound(metric: Metric, value: object, loc: Loc, errors: list[InitErrorDetails]) -> Bound:
    if isinstance(value, Bound):
        return value
    before = len(errors)
    if isinstance(value, Mapping):
        bound = _mapping(metric, value, loc, errors)
    else:
        figure = _figure(metric, value, loc, errors)
        low, high = (figure if metric.bare in (end, "exact") else None for end in ("min", "max"))
        bound = Bound(min=low, max=high)
    if len(errors) == before and bound.min is not None and bound.max is not None and bound.min > bound.max:
        errors.append(_error(loc, value, "min is more than max, so nothing can meet it; swap them"))
    return bound


def _mapping(metric: Metric, value: Mapping[str, object], loc: Loc, errors: list[InitErrorDetails]) -> Bound:
    errors.extend(
        _error((*loc, key, "[key]"), key, f"{key!r} is no part of a bound; {instead(key, BOUND_KEYS)}")
        for key in value
        if key not in BOUND_KEYS
    )
    during = value.get("during", "run")
    if not isinstance(during, str):
        errors.append(_error((*loc, "during"), during, "must be a window; write run, after_heal or an entry's name"))
    if "min" not in value and "max" not in value:
        errors.append(
            _error(loc, value, f"bounds nothing; add {'min' if metric.bare == 'min' else 'max'}: {metric.sample}")
        )
    if (missed := value.get("or")) not in _MISSED:
        says = f"a missed bound cannot make a run {missed!r}; write or: inconclusive, or leave it out"
        errors.append(_error((*loc, "or"), missed, says))
    ends = {end: _figure(metric, value[end], (*loc, end), errors) for end in ("min", "max") if end in value}
    of = _several_subjects(metric, value["of"], loc, errors) if "of" in value else ()
    void: Literal["inconclusive"] | None = "inconclusive" if missed == "inconclusive" else None
    return Bound(min=ends.get("min"), max=ends.get("max"), during=str(during), of=of, or_=void)


def _several_subjects(metric: Metric, value: object, loc: Loc, errors: list[InitErrorDetails]) -> tuple[str, ...]:
    """Return the names in ``of``, which is refused in a bound that is listed under a subject already."""
    place = (*loc, "of")
    if any(isinstance(part, str) for part in loc):
        errors.append(
            _error(
                place, value, f"cannot be used below one {metric.subject}; write a list of bounds, one of them with of"
            )
        )
    elif not isinstance(value, list | tuple) or not value or not all(isinstance(each, str) for each in value):
        errors.append(_error(place, value, f"must be a list of {metric.subject}s; write of: [one, another]"))
    elif len(set(value)) < len(value):
        errors.append(_error(place, value, f"names a {metric.subject} twice; name each once"))
    else:
        return tuple(value)
    return ()


def _figure(metric: Metric, value: object, loc: Loc, errors: list[InitErrorDetails]) -> float | None:
    try:
        return metric.parse(value)
    except ValueError as error:
        errors.append(_error(loc, value, str(error)))
        return None


def _error(loc: Loc, value: object, says: str) -> InitErrorDetails:
    return InitErrorDetails(type=PydanticCustomError("chaosk", "{says}", {"says": says}), loc=loc, input=value)


def spell_bounds(metric: Metric, subjects: Subjects) -> Any:  # noqa: ANN401 - any of the spellings
    """Spell bounds so that :func:`parse_bounds` reads them back."""
    spelled = {name: [_spell_bound(metric, bound) for bound in bounds] for name, bounds in subjects.items()}
    return spelled[""] if list(spelled) == [""] else spelled


def _spell_bound(metric: Metric, bound: Bound) -> dict[str, str | int | list[str]]:
    found: dict[str, str | int | list[str]] = {
        end: metric.spell(figure) for end, figure in (("min", bound.min), ("max", bound.max)) if figure is not None
    }
    found["during"] = bound.during
    if bound.of:
        found["of"] = list(bound.of)
    return found if bound.or_ is None else found | {"or": bound.or_}
