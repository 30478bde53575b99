"""Safe display of foreign text: output of hosts, brokers, files and events must not control a terminal or a page."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """Return the text with control, format and unpaired surrogate characters as escapes, line breaks as spaces."""
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in "\n\t\r":
        return " "
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}:
        return f"\\u{ord(character):04x}"
    return character
