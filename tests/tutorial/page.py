"""The tutorial as what a reader does: commands to type, files to write, and what is shown of their output.

A fence of ``sh`` is commands, one a line, with the exit code of its last one behind the word if it is not 0; a fence of
``yaml`` with a name is a file; a fence of ``text`` is what the commands above it print: ``…`` is anything, numbers are
any numbers, and lines may lie between those that are shown unless nothing is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial.md"
_FENCE = re.compile(r"^```([a-z]+)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One fence."""

    kind: str
    """``sh``, ``yaml`` or ``text``."""
    about: str
    """The exit code of commands, the name of a file."""
    text: str


def blocks() -> list[Block]:
    """Every fence of the page, in order."""
    found = [Block(*parts) for parts in _FENCE.findall(PAGE.read_text("utf-8"))]
    assert {block.kind for block in found} == {"sh", "yaml", "text"}
    return found


def commands() -> list[str]:
    """Every line to type."""
    return [line for block in blocks() if block.kind == "sh" for line in block.text.splitlines()]


def not_shown(shown: str, printed: str) -> list[str]:
    """Of the lines that the page shows those that were not printed, in that order."""
    lines = iter([_plain(line) for line in printed.splitlines()])
    wanted = [_plain(line) for line in shown.splitlines() if _plain(line) not in {"", "…"}]
    return [each for each in wanted if not any(_pattern(each).fullmatch(line) for line in lines)]


def _plain(line: str) -> str:
    return " ".join(line.split())


def _pattern(line: str) -> re.Pattern[str]:
    parts = re.split(r"(…|\d[\d,.]*)", line)
    known = {"…": ".*"}
    return re.compile(
        "".join(known.get(part, r"\d[\d,.]*" if part[:1].isdigit() else re.escape(part)) for part in parts)
    )
