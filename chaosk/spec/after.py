"""References to the progress of another timeline entry, for the triggers of entries and probes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from chaosk.core.model import Model
from chaosk.core.units import Duration
from chaosk.spec.fields import Name


class After(Model):
    """The trigger ``after``: another entry reached a state, plus a delay."""

    entry: Name
    is_: Annotated[Literal["applied", "healed", "done"], Field(alias="is")] = "done"
    """``applied`` (its effect is verified), ``healed`` (its undo is verified), ``done`` (the entry has ended)."""
    delay: Duration = 0.0

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: object) -> object:
        return {"entry": value} if isinstance(value, str) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [{"type": "string", "minLength": 1}, super().__get_pydantic_json_schema__(core, handler)]}
