"""Mutants that change no verdict: a list kept by hand, with the argument for each; that they survive is no gap.

A line of the list names the check, the line of its code, what was and what became: numbers of lines and of mutants
change with each edit, these do not. A listed mutant that a test kills is none, and the list is wrong.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

LIST = Path(__file__).parent.parent / "docs" / "measured" / "mutation-equivalent.csv"
COLUMNS = ("check", "code", "was", "became", "why")

Key = tuple[str, str, str, str]
Row = dict[str, str]
Sources = Callable[[str], Path]


def listed(path: Path = LIST) -> dict[Key, str]:
    """The mutants that are said to change no verdict, each with why. Raises SystemExit where that is not said."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if tuple(row) != COLUMNS or not all((row[column] or "").strip() for column in COLUMNS):
            raise SystemExit(f"{path.name}: not all of {', '.join(COLUMNS)} are given: {row}")
    return {(row["check"], row["code"], row["was"], row["became"]): row["why"] for row in rows}


def key(row: Mapping[str, str | int], source: Path) -> Key:
    """By what a mutant is looked up in the list; ``source`` is its check's file."""
    code = source.read_text("utf-8").splitlines()[int(row["line"]) - 1].strip()
    return str(row["check"]), code, str(row["was"]), str(row["became"])


def label(rows: Iterable[Row], known: Mapping[Key, str], source: Sources) -> None:
    """Call ``equivalent`` what survived and is in the list, and ``survived`` what is not in it any more."""
    for row in rows:
        if row["status"] in {"survived", "equivalent"}:
            row["status"] = "equivalent" if key(row, source(row["check"])) in known else "survived"


def refuted(rows: Iterable[Row], known: Mapping[Key, str], source: Sources) -> list[str]:
    """What a test killed although it is in the list, one line each."""
    return [
        f"{row['check']}:{row['line']}: {row['was']} -> {row['became']} is listed as equivalent: killed by {row['by']}"
        for row in rows
        if row["status"] in {"killed", "time"} and key(row, source(row["check"])) in known
    ]
