"""Pydantic's errors in chaosk's own words: the mistake, and the value to write instead.

Pydantic's texts are never shown, because they speak of classes and inputs, not of the user's file.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from chaosk.core.suggest import instead
from chaosk.core.units import spelled_like

TEXT, NUMBER, WHOLE, BOOLEAN, MAPPING, LIST = (
    "text",
    "a number",
    "a whole number",
    "true or false",
    "a mapping",
    "a list",
)

SINGLE = "a single value"

WANTS = {
    "string_type": TEXT,
    "int_type": WHOLE,
    "int_parsing": WHOLE,
    "int_from_float": WHOLE,
    "float_type": NUMBER,
    "float_parsing": NUMBER,
    "decimal_type": NUMBER,
    "decimal_parsing": NUMBER,
    "bool_type": BOOLEAN,
    "bool_parsing": BOOLEAN,
    "dict_type": MAPPING,
    "mapping_type": MAPPING,
    "model_type": MAPPING,
    "model_attributes_type": MAPPING,
    "dataclass_type": MAPPING,
    "list_type": LIST,
    "tuple_type": LIST,
    "set_type": LIST,
    "frozen_set_type": LIST,
}
"""The expected kind of value by error type; several at one position mean any of these."""

_KNOWN_PATTERNS = {
    r"^[a-z0-9]([a-z0-9_.-]{0,62}[a-z0-9])?$": "a name of lower-case letters, digits, - _ and ., like node1",
    r"^[a-zA-Z0-9._-]{1,249}$": "a topic name of letters, digits, . _ and -, like orders",
    r"^[A-Za-z0-9:]([A-Za-z0-9.:-]{0,252}[A-Za-z0-9:])?$": "an address or host name, like 192.0.2.11",
    r"^[A-Za-z0-9_][A-Za-z0-9_.@\\+-]{0,127}\$?$": "the name of an account, like ops",
    r"^/[^\x00-\x1f]*$": "an absolute path, like /etc/kafka/server.properties",
    r"^[A-Za-z0-9@_.:-]{1,200}\.service$": "a systemd unit, like kafka.service",
    r"^[a-z][a-z0-9-]{0,11}$": "a lower-case letter, then letters, digits or -, 12 at most, like lab",
    r"^_?[A-Z][A-Z0-9_]{0,80}$": "librdkafka's name of an error, like NOT_LEADER_FOR_PARTITION or _TRANSPORT",
    r"^(broker|controller|zookeeper) (0|[1-9][0-9]{0,8})$": "a role, like broker 0 or zookeeper 1",
}

_RANGES = {
    "greater_than": "is too small; write more than {gt}",
    "greater_than_equal": "is too small; write at least {ge}",
    "less_than": "is too large; write less than {lt}",
    "less_than_equal": "is too large; write at most {le}",
    "multiple_of": "does not fit; write a multiple of {multiple_of}",
    "too_short": "is too short; write at least {min_length}",
    "too_long": "is too long; write at most {max_length}",
    "string_too_short": "is too short; write at least {min_length} characters",
    "string_too_long": "is too long; write at most {max_length} characters",
    "finite_number": "is not a finite number; write a number",
}


def words(kind: str, context: Mapping[str, Any], value: object) -> str:
    """Describe the mistake in ``value`` and its remedy, for pydantic's error ``kind`` with its ``context``."""
    if kind in WANTS:
        return wanted((WANTS[kind],), value)
    if kind in ("value_error", "assertion_error"):
        return str(context["error"])
    if kind in _RANGES:
        bounds = {name: spelled_like(value, bound) for name, bound in context.items()}
        return f"{show(value)} {_RANGES[kind].format(**bounds)}"
    if kind == "string_pattern_mismatch":
        pattern = str(context["pattern"])
        return f"{show(value)} does not fit; write {_KNOWN_PATTERNS.get(pattern, f'a value that matches {pattern}')}"
    if kind in ("literal_error", "enum"):
        return f"{show(value)} is not one of the choices; {instead(str(value), _choices(str(context['expected'])))}"
    return f"{show(value)} is not accepted here; see `chaosk list` for accepted values and examples"


def wanted(wants: tuple[str, ...], value: object) -> str:
    """Return the message for a ``value`` that is of none of the kinds in ``wants``."""
    if {TEXT, WHOLE, BOOLEAN} <= set(wants):
        wants = (SINGLE,)
    return f"must be {' or '.join(dict.fromkeys(wants))}, not {show(value)}; {_advice(wants, value)}"


def show(value: object) -> str:
    """Show a value in a message: always short."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "nothing"}[value]
    text = repr(value) if isinstance(value, str) else f"the number {value}"
    return text if len(text) <= 60 else f"{text[:56]}…{text[-1]}"


def _advice(wants: tuple[str, ...], value: object) -> str:
    if isinstance(value, bool | int | float) and TEXT in wants:
        return f"write it in quotes: {str(value).lower()!r}"
    if isinstance(value, str) and BOOLEAN in wants:
        return "write true or false, without quotes"
    if isinstance(value, str) and {NUMBER, WHOLE} & set(wants):
        bare = re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value)
        return f"write {value}, without quotes" if bare else "write digits only, like 3"
    if LIST in wants and not isinstance(value, Mapping) and len(str(value)) <= 40:
        return f"write [{value}]"
    samples = {
        SINGLE: "one word or number",
        TEXT: "one word or sentence",
        MAPPING: "{key: value}",
        LIST: "[a, b]",
        WHOLE: "like 3",
        NUMBER: "like 1.5",
    }
    return "write " + " or ".join(samples.get(want, want) for want in dict.fromkeys(wants))


def _choices(expected: str) -> list[str]:
    return re.findall(r"'([^']*)'", expected) or [expected]


def summary(described: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(described) or "").split("\n\n")[0].split())
