"""Base class of all document values: frozen, strict about unknown keys, described by its docstrings."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from chaosk.core import docstrings


class Model(BaseModel):
    """A frozen value read from YAML or JSON; field docstrings become the descriptions in its JSON Schema."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        populate_by_name=True,
        ser_json_inf_nan="constants",
        arbitrary_types_allowed=False,
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        texts = docstrings.of_fields(cls)
        for name, info in cls.model_fields.items():
            if name in texts and (found := properties.get(info.alias or name)) is not None:
                found.setdefault("description", texts[name])
        return schema
