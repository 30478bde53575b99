"""A file's bytes as text that contains only what it shows: size, encoding, invisible characters."""

from __future__ import annotations

import unicodedata

from chaosk.document.nodes import SourcePosition

LARGEST = 1024 * 1024
"""Bytes of a file, more than any file written by hand has."""

_INVISIBLE = {0x200B, 0x2060, 0xFEFF, 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
"""Zero-width and bidirectional controls, which make a text look different from what the program reads."""


class Unreadable(Exception):  # noqa: N818 - describes the text
    """The text cannot be read beyond this place."""

    def __init__(self, place: SourcePosition, what: str) -> None:
        """``what`` is the mistake and its remedy."""
        super().__init__(what)
        self.place = place
        self.what = what


def decode(data: bytes) -> str:
    """Return the text of a file; raises Unreadable if it is too large, not UTF-8, or has invisible characters."""
    if len(data) > LARGEST:
        raise Unreadable(
            SourcePosition(1, 1), f"the file has {len(data)} bytes; split it, {LARGEST} (1 MiB) is the most"
        )
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(SourcePosition(1, 1), "the file starts with a byte order mark; save it as UTF-8 without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        raise Unreadable(
            _place(before), f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None
    odd = (at for at, sign in enumerate(text) if not " " <= sign <= "~" and sign not in "\t\n\r")
    found = next((at for at in odd if hidden(text[at])), None)
    if found is not None:
        raise Unreadable(_place(text[:found]), f"invisible character {name(text[found])}; remove it")
    return text


def hidden(sign: str) -> bool:
    """Return True if a character is a control, a line separator, or a misleading invisible one."""
    return (
        unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp")
        or ord(sign) in _INVISIBLE
        or ord(sign) & 0xFFFE == 0xFFFE
    )


def name(sign: str) -> str:
    """Return a character's code point with its Unicode name, if it has one."""
    return f"U+{ord(sign):04X} {unicodedata.name(sign, '')}".strip()


def _place(before: str) -> SourcePosition:
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return SourcePosition(len(lines), len(lines[-1]) + 1)
