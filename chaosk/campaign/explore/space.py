"""A space of sequences: a scenario without a timeline, and what timelines are drawn from. Typed and frozen."""

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
"""The key that stands for one of several values."""
DRAWN = ("name", "at", "after")
"""The keys of an entry that a draw gives it."""
PREFIX = "fault-"
"""How the names of drawn faults begin."""
MOST_FAULTS = 20
"""Of a sequence: a run in which more go wrong tells nobody anything."""
_UNORDERED = "min is more than max, so nothing can be drawn; swap them"


class Count(Model):
    """How many faults a sequence has: a number, or from `min` to `max`."""

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
            parse_duration(value)  # says what is wrong with it
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
    """What timelines are drawn from."""

    faults: Annotated[tuple[dict[str, object], ...], Field(min_length=1, max_length=100)]
    """Entries as of a timeline, without `name`, `at` and `after`; ``{any: [A, B]}`` in place of a value is one of
    them, and ``for`` can be ``{min, max}``."""
    count: Count = Count(min=1, max=3)
    """How many faults a sequence has."""
    gap: Span = Span.model_validate({"min": "2s", "max": "10s"})
    """From one fault's end to the next one's start, or, where they may overlap, from start to start."""
    overlap: bool = False
    """Whether a fault may start while another one is in place."""
    last: Annotated[tuple[dict[str, object], ...], Field(alias="finally")] = ()
    """Entries that end every sequence, as they are written."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """Decides every draw, unless the command line does."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a fault that is one of several."""

    path: Path
    """Where in the entry."""
    options: tuple[Plain, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fault that can be drawn."""

    entry: Mapping[str, Plain]
    """As it is written."""
    choices: tuple[Choice, ...]
    lasts: Span | None
    """From what its duration is drawn; None if it has none, or one of several."""


@dataclass(frozen=True, slots=True)
class Space:
    """All that sequences are drawn from."""

    file: FilePath
    scenario: Mapping[str, Plain]
    """What all of them have in common, in the order of the file; ``explore`` stands where the timeline goes."""
    faults: tuple[Candidate, ...]
    explore: Explore

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.scenario["name"])


def named(number: int) -> str:
    """The name of the n-th fault of a sequence, from 1."""
    return f"{PREFIX}{number}"
