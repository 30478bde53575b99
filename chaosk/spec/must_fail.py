"""Clients that are meant to fail: the period in which any success of theirs is a violation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import GetJsonSchemaHandler, model_serializer, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from chaosk.core.model import Model
from chaosk.spec.after import After
from chaosk.spec.fields import Name

ALWAYS, FENCED = "always", "fenced"


class MustFail(Model):
    """The period in which none of a probe's attempts may succeed.

    ``always``; ``fenced``: from the moment it learns that another client has taken over its ``transactional.id``, which
    must happen; or from the progress of an entry, ``{after: twice}`` or ``{after: {entry: twice, delay: 10s}}``, as in
    the timeline, and ``until`` another entry begins.
    """

    fenced: bool = False
    """True if the period starts when the probe is fenced."""
    after: After | None = None
    """The start of the period: when that entry is done, or at the given state. Earlier attempts may succeed."""
    until: Name | None = None
    """The entry whose start ends the period; without it the end of the run."""

    @property
    def always(self) -> bool:
        """True if no attempt may ever succeed, so that the run does not wait for the probe's progress."""
        return not self.fenced and self.after is None

    @model_validator(mode="before")
    @classmethod
    def _from_document(cls, value: object) -> object:
        if isinstance(value, str):
            if value not in (ALWAYS, FENCED):
                says = f"{value!r} does not say when; write {ALWAYS}, {FENCED} or {{after: ENTRY}}"
                raise PydanticCustomError("chaosk", "{says}", {"says": says})
            return {"fenced": value == FENCED}
        if isinstance(value, Mapping) and not value:
            says = f"does not say when; write {ALWAYS}, {FENCED} or {{after: ENTRY}}"
            raise PydanticCustomError("chaosk", "{says}", {"says": says})
        return value

    @model_serializer(when_used="json")
    def _to_document(self) -> str | dict[str, Any]:
        if self.fenced:
            return FENCED
        plain: dict[str, Any] = {}
        if self.after is not None:
            plain["after"] = self.after.model_dump(mode="json", by_alias=True)
        if self.until is not None:
            plain["until"] = self.until
        return plain or ALWAYS

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        own = handler.resolve_ref_schema(super().__get_pydantic_json_schema__(core, handler))
        properties = {name: each for name, each in own.get("properties", {}).items() if name != "fenced"}
        described = {"type": "object", "properties": properties, "additionalProperties": False, "minProperties": 1}
        return {"anyOf": [{"enum": [ALWAYS, FENCED]}, described], "description": own.get("description", "")}
