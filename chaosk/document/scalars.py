"""Plain scalars by YAML 1.2's core schema, without the forms on which YAML readers disagree.

``yes``, ``no``, ``on`` and ``off`` are words, ``22:30`` is text. Forms that readers interpret differently, as text or
as different numbers (``0644``, ``1_000``, ``0x1F``, ``.inf``), are refused, because the intended value is ambiguous.
Source: YAML 1.2.2, 10.3.2 Tag Resolution.
"""

from __future__ import annotations

import re

from chaosk.document.nodes import Value

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?")
_DISPUTED = re.compile(r"[-+]?(0[0-9_]+(\.[0-9]*)?|0[xob][0-9a-fA-F_]+|[1-9][0-9]*(_[0-9]+)+|\.[0-9]+|[0-9]+\.)")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LARGEST = 10**18
_NULLS = ("", "~", "null", "Null", "NULL")
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


def resolve(text: str) -> Value:
    """Return the value of a plain (unquoted) scalar; raises ValueError with a remedy if it is ambiguous."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is not a finite number; write a number")
    if _DISPUTED.fullmatch(text):
        raise ValueError(f"{text[:40]} means different things to different readers of YAML; {_advice(text)}")
    if _INTEGER.fullmatch(text):
        return _integer(text)
    return _float(text) if _FLOAT.fullmatch(text) else text


def _integer(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > _LARGEST:
        raise ValueError(f"{text[:40]} is too large a number; write at most {_LARGEST}")
    return int(text)


def _float(text: str) -> float:
    number = float(text) if len(text) <= 400 else float("inf")
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:40]} is too large a number; write a smaller one")
    return number


def _advice(text: str) -> str:
    if text.startswith(".") or text.endswith("."):
        return "write digits on both sides of the point, or quote it if it is text"
    return f'write the number in plain decimal digits, or "{text[:40]}" in quotes if it is text'
