"""The written form of a scenario as types, made from the fields of all steps, probes and metrics.

``chaosk.spec.scenario`` holds the types that the program works with. With the types here, pydantic reports every
mistake at its place in the file, and the JSON Schema for editors is generated from the same fields.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, create_model
from pydantic.fields import FieldInfo

from chaosk.core import docstrings
from chaosk.core.messages import summary
from chaosk.core.model import Model
from chaosk.document.blocks import ENTRIES, MOST_ROUNDS, REPEAT, is_block
from chaosk.spec.bounds import parse_bounds
from chaosk.spec.contracts.stop_rules import stop_conditions
from chaosk.spec.expect import Expect
from chaosk.spec.fields import Name
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.metrics import METRICS, WINDOWS, Metric
from chaosk.spec.scenario import Entry, Scalar, Scenario, probes, steps

_ENTRY, _BLOCK = "[entry]", "[repeat]"
"""Kinds of a timeline item, in the paths of pydantic's errors; no key has such a name."""


class Variants(Model):
    """The keys that make several scenarios of one file."""

    variants: Annotated[dict[Name, dict[Name, Scalar]], Field(min_length=1)] | None = None
    """The variants of the experiment by name, each with its own values of some variables."""
    matrix: Annotated[dict[Name, Annotated[tuple[Scalar, ...], Field(min_length=1)]], Field(min_length=1)] | None = None
    """Several values by variable; each combination of values is a variant."""


@cache
def scenario_shape() -> type[Model]:
    """Return the type of a whole scenario file."""
    every = {**Scenario.model_fields, **Variants.model_fields}
    own: dict[str, Any] = {name: _field(info) for name, info in every.items()}
    item: Any = _item_shape(_entry_shape())
    probe: Any = _probe_shape()
    own["timeline"] = (tuple[item, ...], Field(min_length=1))
    own["probes"] = (dict[Name, probe], Field(min_length=1))
    own["stop_conditions"] = _stop_conditions()
    own["expect"] = (_expect_shape(), Field(default=None, description=summary(Expect)))
    return _model("Scenario", summary(Scenario), own, like=(Scenario, Variants))


def _entry_shape() -> type[Model]:
    own: dict[str, Any] = {
        name: _field(info) for name, info in Entry.model_fields.items() if name not in ("kind", "step")
    }
    own["name"] = (Name, Field(default=None))
    kinds = {name: _optional(kind) for name, kind in steps().items()}
    return _model("Entry", summary(Entry), {**own, **kinds}, tuple(kinds), (Entry,))


def _item_shape(entry: Any) -> object:  # noqa: ANN401 - an annotation
    times = Field(ge=1, le=MOST_ROUNDS, description="How many rounds.")
    inner = Field(min_length=1, description="The entries of a round, carried out in this order; none has `at`.")
    own = {REPEAT: (int, times), ENTRIES: (tuple[entry, ...], inner)}
    says = "Entries that are carried out round after round, as `NAME-1`, `NAME-2` and so on."
    block: Any = _model("Repeat", says, own)
    meant = Discriminator(lambda value: _BLOCK if is_block(value) else _ENTRY)
    return Annotated[Annotated[entry, Tag(_ENTRY)] | Annotated[block, Tag(_BLOCK)], meant]


def _probe_shape() -> type[Model]:
    kinds = {name: _optional(kind) for name, kind in probes().items()}
    return _model(
        "Probe", "A client of the cluster: one key, the kind of probe, with its settings.", kinds, tuple(kinds)
    )


def _stop_conditions() -> Any:  # noqa: ANN401 - an annotation and a default
    kinds = {name: _optional(kind) for name, kind in stop_conditions().items()}
    one: Any = _model(
        "StopCondition", "One reason to end a run at once: one key, with its settings.", kinds, tuple(kinds)
    )
    return tuple[one, ...], Field(default=())


def _expect_shape() -> type[Model]:
    own = {name: _field(Expect.model_fields[name]) for name in ("verdict", "rules", "errors")}
    bounds = {name: (_bounds(metric), Field(default=None, description=metric.says)) for name, metric in METRICS.items()}
    return _model("Expect", summary(Expect), {**own, **bounds}, like=(Expect,))


def _model(
    name: str, says: str, fields: dict[str, Any], one_of: tuple[str, ...] = (), like: tuple[type[Model], ...] = ()
) -> type[Model]:
    shape: type[Model] = create_model(name, __base__=Model, __doc__=says, **fields)
    docstrings.lend(shape, *like)
    if one_of:
        shape.model_config["json_schema_extra"] = {"oneOf": [{"required": [key]} for key in one_of]}
        shape.model_rebuild(force=True)
    return shape


def _field(info: FieldInfo) -> tuple[Any, FieldInfo]:
    return info.annotation, info


def _optional(kind: type[Model]) -> tuple[Any, Any]:
    """Return an optional key that must not be empty."""
    return kind, Field(default=None, description=summary(kind))


def _bounds(metric: Metric) -> Any:  # noqa: ANN401 - an annotation
    return Annotated[Any, BeforeValidator(partial(parse_bounds, metric)), WithJsonSchema(bounds_schema(metric))]


def bounds_schema(metric: Metric) -> dict[str, Any]:
    """Return the JSON Schema of all spellings of bounds on ``metric``."""
    figure: dict[str, Any] = {
        "s": {"type": "string", "pattern": r"^[0-9.]+(ms|s|m|h)$", "examples": ["20s"]},
        "records/s": {"type": "string", "pattern": r"^[0-9.]+/(s|m)$", "examples": ["450/s"]},
        "ratio": {"type": "string", "pattern": r"^[0-9.]+ ?%$", "examples": ["99 %"]},
    }.get(metric.unit, {"type": "integer", "minimum": 0, "examples": [12]})
    window = {"type": "string", "description": f"{', '.join(WINDOWS)}, or the name of a timeline entry"}
    of = {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True}
    keys = {"min": figure, "max": figure, "during": window, "of": of, "or": {"const": "inconclusive"}}
    ends = [{"required": ["min"]}, {"required": ["max"]}]
    bound = {"type": "object", "properties": keys, "additionalProperties": False, "anyOf": ends}
    one = {"anyOf": [figure, bound]}
    several = {"anyOf": [*one["anyOf"], {"type": "array", "items": one, "minItems": 1}]}
    reserved = {"propertyNames": {"not": {"enum": list(keys)}}}
    subjects = {"type": "object", "additionalProperties": several, "minProperties": 1, **reserved}
    return {"anyOf": [*several["anyOf"], subjects]}


@cache
def inventory_shape() -> type[Model]:
    """Return the type of an inventory file."""
    own = {"stop_conditions": _stop_conditions()}
    shape: type[Model] = create_model("Inventory", __base__=Inventory, __doc__=Inventory.__doc__, **own)
    return shape


@cache
def lab_shape() -> type[Model]:
    """Return the type of a lab file: an inventory with the single key ``lab``."""
    shape: type[Model] = create_model("Lab", __base__=Model, __doc__=summary(LabLayout), lab=(LabLayout, ...))
    return shape
