"""Stop conditions as fields of scenarios and inventories: a list of mappings, each with one key, the condition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializeAsAny, SerializerFunctionWrapHandler, WrapSerializer

from chaosk.core import plugins
from chaosk.spec.contracts.stop_condition import StopCondition


def stop_conditions() -> dict[str, type[StopCondition]]:
    """Return every kind of stop condition by its YAML name."""
    return plugins.discover("chaosk.cluster.stop_conditions", StopCondition)


def _each(value: object) -> object:
    return [_one(each) for each in value] if isinstance(value, list) else value


def _one(value: object) -> object:
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    ((kind, fields),) = value.items()
    return stop_conditions()[kind].model_validate_json(json.dumps(fields))


def _with_kinds(value: tuple[StopCondition, ...], handler: SerializerFunctionWrapHandler) -> list[dict[str, Any]]:
    return [{plugins.name_of(type(condition)): plain} for condition, plain in zip(value, handler(value), strict=True)]


Rules = Annotated[
    tuple[SerializeAsAny[StopCondition], ...],
    BeforeValidator(_each),
    Field(strict=False),
    WrapSerializer(_with_kinds, when_used="json"),
]
"""``- offline_partition: {}``, and so on; the first one that is violated stops the run."""
