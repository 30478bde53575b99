"""A file's bytes as text that can be trusted to look like what it is: size, encoding, invisible characters."""

from __future__ import annotations

import unicodedata

from chaosk.document.nodes import Place

LARGEST = 1024 * 1024
"""Bytes of a file; nothing that a person writes is larger."""

_INVISIBLE = {0x200B, 0x2060, 0xFEFF, 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
"""Zero-width and bidirectional controls: a reader sees another text than the program."""


class Unreadable(Exception):  # noqa: N818 - says what the text is
    """The text cannot be read on from here."""

    def __init__(self, place: Place, what: str) -> None:
        """``what`` is what is wrong there, and what to write."""
        super().__init__(what)
        self.place = place
        self.what = what


def decode(data: bytes) -> str:
    """The text of a file; raises Unreadable where it is too large, not UTF-8, or holds what nobody can see."""
    if len(data) > LARGEST:
        raise Unreadable(Place(1, 1), f"the file has {len(data)} bytes; split it, {LARGEST} (1 MiB) is the most")
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(Place(1, 1), "the file starts with a byte order mark; save it as UTF-8 without one")
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
    """Whether a character is a control, a line separator, or one of the invisible ones that mislead."""
    return (
        unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp")
        or ord(sign) in _INVISIBLE
        or ord(sign) & 0xFFFE == 0xFFFE
    )


def name(sign: str) -> str:
    """A character's code point with its Unicode name, if it has one."""
    return f"U+{ord(sign):04X} {unicodedata.name(sign, '')}".strip()


def _place(before: str) -> Place:
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return Place(len(lines), len(lines[-1]) + 1)
