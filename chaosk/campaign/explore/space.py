"""A space of sequences: a scenario with a set of possible faults in place of a timeline. Typed and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Annotated, Any

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from chaosk.core.model import Model
from chaosk.core.units import Duration, parse_duration
from chaosk.document.nodes import Path, Plain

ANY = "any"
"""Key of a mapping that lists several possible values."""
DRAWN = ("name", "at", "after")
"""Keys of an entry that are set by a draw."""
PREFIX = "fault-"
"""Prefix of the names of drawn faults."""
MOST_FAULTS = 20
"""Maximum number of faults of a sequence: a run with more cannot be interpreted."""
_UNORDERED = "min is more than max, so nothing can be drawn; swap them"


class Count(Model):
    """Number of faults in a sequence: a number, or from `min` to `max`."""

    min: Annotated[int, Field(ge=1, le=MOST_FAULTS)] = 1
    max: Annotated[int, Field(ge=1, le=MOST_FAULTS)]

    @model_validator(mode="before")
    @classmethod
    def _exact(cls, value: object) -> object:
        return {"min": value, "max": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _ordered(self) -> Count:
        if self.min > self.max:
            raise ValueError(_UNORDERED)
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        exact = {"type": "integer", "minimum": 1, "maximum": MOST_FAULTS}
        return {"anyOf": [exact, super().__get_pydantic_json_schema__(core, handler)]}


class Span(Model):
    """A time that is drawn: a duration, or from `min` to `max`."""

    min: Duration
    max: Duration

    @model_validator(mode="before")
    @classmethod
    def _exact(cls, value: object) -> object:
        if isinstance(value, str | int | float):
            parse_duration(value)  # raises if it is malformed
            return {"min": value, "max": value}
        return value

    @model_validator(mode="after")
    def _ordered(self) -> Span:
        if self.min > self.max:
            raise ValueError(_UNORDERED)
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        exact = {"type": "string", "pattern": r"^[0-9.]+(ms|s|m|h)$", "examples": ["20s"]}
        return {"anyOf": [exact, super().__get_pydantic_json_schema__(core, handler)]}


class Explore(Model, populate_by_name=False):
    """Possible faults, their number and their times."""

    faults: Annotated[tuple[dict[str, object], ...], Field(min_length=1, max_length=100)]
    """Timeline entries without `name`, `at` and `after`; ``{any: [A, B]}`` in place of a value draws one of them, and
    ``for`` can be ``{min, max}``."""
    count: Count = Count(min=1, max=3)
    """Number of faults in a sequence."""
    gap: Span = Span.model_validate({"min": "2s", "max": "10s"})
    """Time from one fault's end to the next one's start, or, if they may overlap, from start to start."""
    overlap: bool = False
    """If true, a fault may start while another one is in place."""
    last: Annotated[tuple[dict[str, object], ...], Field(alias="finally")] = ()
    """Entries that end every sequence, unchanged."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """Seed of every draw; the command line overrides it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a fault that is drawn from several."""

    path: Path
    """Its path in the entry."""
    options: tuple[Plain, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fault that can be drawn."""

    entry: Mapping[str, Plain]
    """The entry as it is written."""
    choices: tuple[Choice, ...]
    lasts: Span | None
    """Span from which its duration is drawn; None if it has no duration, or a choice of several."""


@dataclass(frozen=True, slots=True)
class Space:
    """The source of all sequences: the common scenario and the possible faults."""

    file: FilePath
    scenario: Mapping[str, Plain]
    """The common keys of all scenarios, in the order of the file; ``explore`` is in place of the timeline."""
    faults: tuple[Candidate, ...]
    explore: Explore

    @property
    def name(self) -> str:
        """The space's name."""
        return str(self.scenario["name"])


def named(number: int) -> str:
    """Return the name of the n-th fault of a sequence, from 1."""
    return f"{PREFIX}{number}"
