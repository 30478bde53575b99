"""What hosts, brokers, files and events say is data: nothing of it is obeyed by whatever shows it."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """The text with control, format and unpaired surrogate characters shown as escapes, line breaks as spaces."""
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in "\n\t\r":
        return " "
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}:
        return f"\\u{ord(character):04x}"
    return character
