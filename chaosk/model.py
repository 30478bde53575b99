"""The base of every typed document value: frozen, strict about unknown keys, described by its docstrings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A frozen value read from YAML or JSON; field docstrings become the descriptions in its JSON Schema."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        use_attribute_docstrings=True,
        populate_by_name=True,
        ser_json_inf_nan="constants",
        arbitrary_types_allowed=False,
    )
