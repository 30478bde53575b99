"""Where runs are: the run directories below folders, however deep a gate has put them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from chaosk.core.errors import UsageError
from chaosk.rundir.paths import RunDir, existing

DEEPEST = 8
"""Levels of folders that are looked into; a gate's runs lie five below ``reports``."""
MOST = 10_000
"""Run directories that are taken in."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A folder that was passed over."""

    folder: Path
    why: str


@dataclass(slots=True)
class Found:
    """What lies below some folders."""

    runs: list[RunDir] = field(default_factory=list)
    """By path, each once."""
    passed: list[Passed] = field(default_factory=list)


def find(folders: Iterable[Path]) -> Found:
    """The run directories in folders, or that they are themselves; raises UsageError where a folder has none at all.

    No link below a folder is followed. A folder with no run anywhere in it is passed over as a whole.
    """
    found = Found()
    for folder in dict.fromkeys(Path(os.path.realpath(each)) for each in folders):
        before = len(found.runs)
        if not folder.is_dir():
            raise UsageError(f"{folder}: is no folder; name one with runs in it, like reports")
        if not _look(folder, 0, found):
            raise UsageError(f"{folder}: there is no run in it; name a folder that `chaosk run` or `chaosk gate` wrote")
        found.runs[before:] = sorted(found.runs[before:], key=lambda run: run.root)
    found.runs = list({run.root: run for run in found.runs}.values())
    return found


def _look(folder: Path, depth: int, found: Found) -> bool:
    """Take in what is in a folder; whether it has anything of a run."""
    if os.path.isfile(folder / "plan.json"):  # noqa: PTH113 - false, too, where nobody may look
        return _take(folder, found)
    if depth == DEEPEST:
        return False
    parts = {part: _look(part, depth + 1, found) for part in _parts(folder, found)}
    if any(parts.values()):
        found.passed += [Passed(part, "there is no run in it") for part, has in parts.items() if not has]
    return any(parts.values())


def _parts(folder: Path, found: Found) -> list[Path]:
    """The folders in a folder, by name, hidden ones left out."""
    try:
        with os.scandir(folder) as entries:
            every = sorted((each for each in entries if not each.name.startswith(".")), key=lambda each: each.name)
    except OSError as error:
        found.passed.append(Passed(folder, f"cannot be read: {error.strerror}"))
        return []
    linked = [Path(each.path) for each in every if each.is_symlink() and os.path.isdir(each)]  # noqa: PTH112 - as above
    found.passed += [Passed(path, "is a symbolic link, which is not followed") for path in linked]
    return [Path(each.path) for each in every if each.is_dir(follow_symlinks=False)]


def _take(folder: Path, found: Found) -> bool:
    if len(found.runs) >= MOST:
        raise UsageError(f"{folder}: there are more than {MOST:,} runs; name folders with fewer of them")
    try:
        found.runs.append(existing(folder))
    except UsageError as error:
        found.passed.append(passed(folder, error))
    return True


def passed(folder: Path, error: UsageError) -> Passed:
    """A folder passed over for an error, whose message begins with that folder's name."""
    return Passed(folder, str(error).removeprefix(str(folder)).removeprefix("/").removeprefix(": "))
