"""Decodes the bytes of a terminal into keys: characters and named keys. Pure."""

from __future__ import annotations

import codecs
import re

NAMED = {
    "\r": "enter", "\n": "enter", "\x7f": "backspace", "\x08": "backspace", "\x1b[A": "up", "\x1b[B": "down",
    "\x1bOA": "up", "\x1bOB": "down", "\x1b[5~": "page up", "\x1b[6~": "page down", "\x1b": "escape",
}  # fmt: skip
"""Byte sequences of named keys."""

_PIECE = re.compile(r"\x1b\[200~(?P<paste>.*?)\x1b\[201~|\x1b\[[0-9;?]*[ -/]*[@-~]|\x1bO.|\x1b|.", re.DOTALL)
_OPEN = re.compile(r"\x1b\[200~(?:(?!\x1b\[201~).)*\Z|\x1b(?:\[[0-9;?]*|O)?\Z", re.DOTALL)
_LONGEST = 4096
"""Maximum number of characters kept of an incomplete sequence: a longer one is noise."""


class Keys:
    """Decodes bytes incrementally into keys; half a character or sequence waits for its rest."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    @property
    def half(self) -> bool:
        """True if an incomplete sequence waits for its rest: an escape key, or the start of another key's sequence."""
        return bool(self._rest)

    def feed(self, data: bytes) -> list[str]:
        """Return the keys in ``data``; empty ``data`` means that no bytes follow, which makes a lone escape a key."""
        text = self._rest + self._decoder.decode(data)
        self._rest = ""
        cut = _OPEN.search(text) if data else None
        if cut is not None and len(cut[0]) < _LONGEST:
            text, self._rest = text[: cut.start()], cut[0]
        found = (_key(piece) for piece in _PIECE.finditer(text))
        return [key for key in found if key]


def _key(piece: re.Match[str]) -> str:
    """Return a key's name or character, ``paste TEXT`` for pasted text, or an empty string for an unknown sequence."""
    text = piece[0]
    if piece["paste"] is not None:
        return f"paste {' '.join(piece['paste'].split())}"
    if text in NAMED:
        return NAMED[text]
    return text if len(text) == 1 and text.isprintable() else ""
