"""Plan of a run, as far as judging needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from chaosk.spec.allow import Allow
from chaosk.spec.expect import Expect
from chaosk.spec.scenario import GRAMMAR, Topic


class Lenient(BaseModel):
    """Model that ignores unknown keys, so that a run with steps of a missing plugin can be judged."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class EntryExcerpt(Lenient):
    """A timeline entry, as far as judging needs it."""

    name: str
    kind: str
    step: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_document(cls, value: object) -> object:
        if not isinstance(value, Mapping) or "kind" in value:
            return value
        kinds = [key for key in value if key not in GRAMMAR]
        return {"name": value.get("name"), "kind": kinds[0], "step": value[kinds[0]] or {}} if kinds else value


class PlanExcerpt(Lenient):
    """The scenario in ``plan.json``, as far as judging needs it."""

    name: str
    hypothesis: str
    covers: tuple[str, ...] = ()
    topics: dict[str, Topic]
    probes: dict[str, dict[str, Any]]
    timeline: Annotated[tuple[EntryExcerpt, ...], Field(default=())]
    expect: Expect = Expect()
    allow: Allow = Allow()
