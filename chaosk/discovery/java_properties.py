"""Java's properties files (java.util.Properties.load): continued lines, escapes, three separators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chaosk.core.errors import UsageError

_LARGEST = 1024 * 1024
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SIGNS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Property:
    """The last value of a key, and its line in the file, from 1."""

    text: str
    line: int


def load(path: Path) -> dict[str, Property]:
    """Return the properties in a file; raises UsageError if it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"{path}: cannot be read: {why}; name a file that you may read") from error
    if len(data) > _LARGEST:
        raise UsageError(f"{path}: has {len(data)} bytes, which no file of properties has; check the path")
    try:
        return parse(data.decode("utf-8"))
    except UnicodeDecodeError:
        return parse(data.decode("latin-1"))  # what Java reads


def parse(text: str) -> dict[str, Property]:
    """Return the properties in a text."""
    found: dict[str, Property] = {}
    for number, line in _lines(text):
        split = _KEY.fullmatch(line)
        if split is not None:
            found[_unescaped(split[1])] = Property(_unescaped(split[2]), number)
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the logical lines, with the number of the first line of each."""
    pending, began = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        part = line.lstrip(" \t\f")
        if not pending and (not part or part[0] in "#!"):
            continue
        began = began or number
        pending += part
        slashes = len(pending) - len(pending.rstrip("\\"))
        if slashes % 2:
            pending = pending[:-1]
            continue
        yield began, pending
        pending, began = "", 0
    if pending:
        yield began, pending


def _unescaped(text: str) -> str:
    def sign(match: re.Match[str]) -> str:
        return chr(int(match[1][1:], 16)) if len(match[1]) == 5 else _SIGNS.get(match[1], match[1])

    return _ESCAPE.sub(sign, text).rstrip(" \t") if "\\" in text else text.rstrip(" \t")
