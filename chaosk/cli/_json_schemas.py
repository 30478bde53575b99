"""JSON Schemas (2020-12) of chaosk's input and output, generated from the types that read and write it.

With a first line ``# yaml-language-server: $schema=PATH``, editors complete and check a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from chaosk.campaign.explore.space import ANY, DRAWN, Explore
from chaosk.document.shape import Variants, bounds_schema, inventory_shape, lab_shape, scenario_shape
from chaosk.rundir.verdict import Verdict
from chaosk.spec.metrics import METRICS, Metric

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_VARIABLE: Schema = {"type": "string", "pattern": r"^[^$]*\$\{[^}]+\}", "description": "A value with a variable in it."}

_CHOICE: Schema = {
    "type": "object",
    "properties": {ANY: {"type": "array", "minItems": 1, "description": "The values, of which one is drawn."}},
    "required": [ANY],
    "additionalProperties": False,
}
_NO_SPACE = ("timeline", *Variants.model_fields)
"""Keys of a scenario that a space must not have."""


def scenario() -> Schema:
    """Return the schema of a scenario file; any single value may be, or contain, ``${name}``."""
    schema = _tidy(scenario_shape().model_json_schema())
    bounds = {_bounds(metric): bounds_schema(metric) for metric in METRICS.values()}
    for metric in METRICS.values():
        schema["$defs"]["Expect"]["properties"][metric.name] = {
            "$ref": f"#/$defs/{_bounds(metric)}",
            "description": metric.says,
        }
    schema["$defs"].update(bounds)
    schema = _with_variables(schema)
    schema["$defs"]["Variable"] = _VARIABLE
    return _head(schema, "A chaosk scenario")


def space() -> Schema:
    """Return the schema of a space: a scenario's keys, with ``explore`` in place of those that make timelines.

    Any value in a fault may be ``{any: [A, B]}``, and its duration a span.
    """
    schema = scenario()
    block: Schema = _walk(_tidy(Explore.model_json_schema()), _widened)
    defs = {**schema["$defs"], **block.pop("$defs"), "Choice": _CHOICE}
    defs["Fault"] = _fault(defs)
    block["properties"]["faults"]["items"] = {"$ref": "#/$defs/Fault"}
    block["properties"]["finally"]["items"] = schema["properties"]["timeline"]["items"]
    schema["properties"] = {key: each for key, each in schema["properties"].items() if key not in _NO_SPACE}
    schema["properties"]["explore"] = {"$ref": "#/$defs/Explore"}
    schema["required"] = [name if name != "timeline" else "explore" for name in schema["required"]]
    del schema["not"]
    return _head({**schema, "$defs": {**defs, "Explore": block}}, "A chaosk space of sequences")


def inventory() -> Schema:
    """Return the schema of an inventory file, or of a lab file."""
    cluster, lab = _tidy(inventory_shape().model_json_schema()), _tidy(lab_shape().model_json_schema())
    defs = {**cluster.pop("$defs"), **lab.pop("$defs"), "Inventory": cluster, "Lab": lab}
    is_lab = {"required": ["lab"]}
    chosen = {"if": is_lab, "then": {"$ref": "#/$defs/Lab"}, "else": {"$ref": "#/$defs/Inventory"}}
    return _head({**chosen, "$defs": defs}, "A chaosk inventory")


def verdict() -> Schema:
    """Return the schema of ``verdict.json``."""
    return _head(Verdict.model_json_schema(mode="serialization"), "The verdict of a chaosk run")


SCHEMAS: dict[str, Callable[[], Schema]] = {
    "scenario": scenario, "space": space, "inventory": inventory, "verdict": verdict,
}  # fmt: skip
"""The functions that make the schemas, by name."""


def text(name: str) -> str:
    """Return the text of ``schemas/<name>.schema.json``."""
    return json.dumps(SCHEMAS[name](), indent=2, ensure_ascii=False) + "\n"


def _bounds(metric: Metric) -> str:
    return {"s": "DurationBounds", "records/s": "RateBounds", "ratio": "ShareBounds"}.get(metric.unit, "CountBounds")


def _fault(defs: Schema) -> Schema:
    """Return the schema of an entry whose values can be drawn."""
    entry = defs["Entry"]
    own = {key: _drawn(each, defs) for key, each in entry["properties"].items() if key not in DRAWN}
    own["for"] = {**own["for"], "anyOf": [*own["for"]["anyOf"], {"$ref": "#/$defs/Span"}]}
    return {**entry, "properties": own}


def _drawn(schema: Schema, defs: Schema) -> Schema:
    """Allow a choice of several values, also for nested values."""
    if "$ref" in schema and "properties" in (step := defs[schema["$ref"].rpartition("/")[2]]):
        return {**step, "properties": {key: _drawn(each, defs) for key, each in step["properties"].items()}}
    outer = {key: each for key, each in schema.items() if key in ("description", "default")}
    inner = {key: each for key, each in schema.items() if key not in outer}
    if "items" in inner:
        inner["items"] = _drawn(inner["items"], defs)
    if "prefixItems" in inner:
        inner["prefixItems"] = [_drawn(each, defs) for each in inner["prefixItems"]]
    several = inner["anyOf"] if list(inner) == ["anyOf"] else [inner]
    return {**outer, "anyOf": [*several, {"$ref": "#/$defs/Choice"}]}


def _head(schema: Schema, title: str) -> Schema:
    return {"$schema": DIALECT, "title": title, **{key: value for key, value in schema.items() if key != "title"}}


def _tidy(schema: Schema) -> Schema:
    """Remove nulls, which no document may contain, and refuse keys that match no pattern."""
    tidy: Schema = _walk(schema, _tidied)
    return tidy


def _tidied(schema: Schema) -> Schema:
    if "patternProperties" in schema:
        schema.setdefault("additionalProperties", False)
    schema.pop("title", None)  # pydantic's, which only repeats the key
    if not isinstance(schema.get("default", ""), str | bool | int):
        del schema["default"]  # differs from its written form
    if "anyOf" in schema:
        left = [each for each in schema["anyOf"] if each.get("type") != "null"]
        if len(left) == 1:
            return {**left[0], **{key: value for key, value in schema.items() if key != "anyOf"}}
        schema["anyOf"] = left
    return schema


def _with_variables(schema: Schema) -> Schema:
    """Allow a variable for every single value, except for the variables' own."""
    own = {name: schema["properties"].pop(name) for name in ("variables", *Variants.model_fields)}
    widened: Schema = _walk(schema, _widened)
    widened["properties"].update(own)
    return {**widened, "not": {"required": list(Variants.model_fields)}}


def _widened(schema: Schema) -> Schema:
    narrow = {"enum", "const", "pattern"} & schema.keys()
    single = schema.get("type") in ("integer", "number", "boolean") or narrow
    if not single or schema == _VARIABLE:
        return schema
    outer: Schema = {key: schema[key] for key in ("description", "title", "default") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in outer}
    return {**outer, "anyOf": [inner, {"$ref": "#/$defs/Variable"}]}


def _walk(node: Any, change: Callable[[Schema], Schema]) -> Any:  # noqa: ANN401 - JSON
    """Change every schema below ``node``, innermost first; data in it (examples, names) stays."""
    if isinstance(node, list):
        return [_walk(each, change) for each in node]
    if not isinstance(node, dict):
        return node
    walked = {}
    for key, value in node.items():
        if key in ("properties", "patternProperties", "$defs"):
            walked[key] = {name: _walk(each, change) for name, each in value.items()}
        elif key in ("enum", "const", "examples", "default", "required", "propertyNames"):
            walked[key] = value
        else:
            walked[key] = _walk(value, change)
    return change(walked)
