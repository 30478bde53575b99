"""What a scenario expects: bounds on measured figures, and predictions of what will be found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema, model_serializer, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from chaosk.expectederrors import ExpectedErrors
from chaosk.metrics import METRICS, Metric
from chaosk.model import Model
from chaosk.nearest import instead
from chaosk.verdict import Outcome

_WORDS = {"fail": Outcome.VIOLATION, **{outcome.value: outcome for outcome in Outcome}}
_BOUND_KEYS = ("min", "max", "during")

Loc = tuple[int | str, ...]
Subjects = dict[str, tuple["Bound", ...]]


class Bound(Model):
    """A bound on one figure, in the unit of its metric (``chaosk.metrics``); at least one end is given."""

    min: float | None = None
    max: float | None = None
    during: str = "run"
    """Over what: ``run``, ``baseline``, ``after_heal``, or the name of a timeline entry."""


def parse_verdict(word: object) -> Outcome:
    """The outcome that a word predicts; ``fail`` means a violation. Raises ValueError."""
    if isinstance(word, str) and word in _WORDS:
        return _WORDS[word]
    raise ValueError(f"{word!r} is no verdict; {instead(str(word), _WORDS)}")


def parse_bounds(metric: Metric, value: object) -> Subjects:
    """By subject (empty: the whole run) the bounds that ``value`` sets, in any of their spellings.

    ``20s`` | ``{min: 1s, max: 20s, during: kill}`` | a list of these | ``{writer: any of these}``. Raises
    pydantic's ValidationError with one located error for each mistake.
    """
    found: list[tuple[str, Loc, object]] = []
    if isinstance(value, Mapping) and not any(key in value for key in _BOUND_KEYS):
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
        ends, during = _mapping(metric, value, loc, errors)
    else:
        figure = _figure(metric, value, loc, errors)
        ends = {end: figure for end in ("min", "max") if metric.bare in (end, "exact")}
        during = "run"
    low, high = ends.get("min"), ends.get("max")
    if len(errors) == before and low is not None and high is not None and low > high:
        errors.append(_error(loc, value, "min is more than max, so nothing can meet it; swap them"))
    return Bound(min=low, max=high, during=during)


def _mapping(
    metric: Metric, value: Mapping[str, object], loc: Loc, errors: list[InitErrorDetails]
) -> tuple[dict[str, float | None], str]:
    errors.extend(
        _error((*loc, key, "[key]"), key, f"{key!r} is no part of a bound; {instead(key, _BOUND_KEYS)}")
        for key in value
        if key not in _BOUND_KEYS
    )
    during = value.get("during", "run")
    if not isinstance(during, str):
        errors.append(_error((*loc, "during"), during, "must be a window; write run, after_heal or an entry's name"))
    if "min" not in value and "max" not in value:
        errors.append(
            _error(loc, value, f"bounds nothing; add {'min' if metric.bare == 'min' else 'max'}: {metric.sample}")
        )
    ends = {end: _figure(metric, value[end], (*loc, end), errors) for end in ("min", "max") if end in value}
    return ends, str(during)


def _figure(metric: Metric, value: object, loc: Loc, errors: list[InitErrorDetails]) -> float | None:
    try:
        return metric.parse(value)
    except ValueError as error:
        errors.append(_error(loc, value, str(error)))
        return None


def _error(loc: Loc, value: object, says: str) -> InitErrorDetails:
    return InitErrorDetails(type=PydanticCustomError("chaosk", "{says}", {"says": says}), loc=loc, input=value)


class Expect(Model):
    """Objectives and predictions. Every invariant is checked whether or not it is named here."""

    verdict: Annotated[Outcome, BeforeValidator(parse_verdict), WithJsonSchema({"enum": sorted(_WORDS)})] | None = None
    """What the scenario predicts will be found: ``pass``, ``degraded``, ``violation`` (or ``fail``)."""
    errors: dict[str, ExpectedErrors] = Field(default_factory=dict)
    """By probe the errors that its clients meet: those that they must and may, and no other."""
    bounds: dict[str, Subjects] = Field(default_factory=dict)
    """By metric, by subject (empty for the whole run), the bounds."""

    @property
    def objectives(self) -> dict[str, Subjects]:
        """The bounds, and what ``errors`` comes to: none that is unexpected, none that is missing."""
        none = (Bound(max=0.0),)
        found = dict(self.bounds)
        for metric in ("unexpected_errors", "missing_errors") if self.errors else ():
            own = found.get(metric, {})
            found[metric] = {**own, **{probe: (*own.get(probe, ()), *none) for probe in self.errors}}
        return found

    @model_validator(mode="before")
    @classmethod
    def _from_document(cls, value: object) -> object:
        if not isinstance(value, Mapping) or "bounds" in value:
            return value
        metrics = {name: parse_bounds(METRICS[name], each) for name, each in value.items() if name in METRICS}
        return {**{name: each for name, each in value.items() if name not in METRICS}, "bounds": metrics}

    @model_serializer(when_used="json")
    def _to_document(self) -> dict[str, Any]:
        verdict = {} if self.verdict is None else {"verdict": self.verdict.value}
        errors = {"errors": {probe: each.model_dump() for probe, each in self.errors.items()}} if self.errors else {}
        return verdict | errors | {name: _spell(METRICS[name], subjects) for name, subjects in self.bounds.items()}


def _spell(metric: Metric, subjects: Subjects) -> Any:  # noqa: ANN401 - any of the spellings
    spelled = {name: [_spell_bound(metric, bound) for bound in bounds] for name, bounds in subjects.items()}
    return spelled[""] if list(spelled) == [""] else spelled


def _spell_bound(metric: Metric, bound: Bound) -> dict[str, str | int]:
    ends = {"min": bound.min, "max": bound.max}
    return {end: metric.spell(figure) for end, figure in ends.items() if figure is not None} | {"during": bound.during}
