"""The search for run directories below folders, as deep as those of a gate."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from chaosk.core.errors import UsageError
from chaosk.rundir.paths import RunDir, existing

DEEPEST = 8
"""Maximum depth of the search; a gate's runs are five levels below ``reports``."""
MOST = 10_000
"""Maximum number of run directories."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A folder that was skipped."""

    folder: Path
    why: str


@dataclass(slots=True)
class RunListing:
    """The result of a search."""

    runs: list[RunDir] = field(default_factory=list)
    """By path, without duplicates."""
    passed: list[Passed] = field(default_factory=list)


def find(folders: Iterable[Path]) -> RunListing:
    """Return the run directories at or below these folders; raises UsageError for a folder without any.

    No link below a folder is followed. A subfolder without any run is skipped as a whole.
    """
    found = RunListing()
    for folder in dict.fromkeys(Path(os.path.realpath(each)) for each in folders):
        before = len(found.runs)
        if not folder.is_dir():
            raise UsageError(f"{folder}: is no folder; name one with runs in it, like reports")
        if not _look(folder, 0, found):
            raise UsageError(f"{folder}: there is no run in it; name a folder that `chaosk run` or `chaosk gate` wrote")
        found.runs[before:] = sorted(found.runs[before:], key=lambda run: run.root)
    found.runs = list({run.root: run for run in found.runs}.values())
    return found


def _look(folder: Path, depth: int, found: RunListing) -> bool:
    """Add the runs in a folder to ``found``; return True if there is one."""
    if os.path.isfile(folder / "plan.json"):  # noqa: PTH113 - also false without permission
        return _take(folder, found)
    if depth == DEEPEST:
        return False
    parts = {part: _look(part, depth + 1, found) for part in _parts(folder, found)}
    if any(parts.values()):
        found.passed += [Passed(part, "there is no run in it") for part, has in parts.items() if not has]
    return any(parts.values())


def _parts(folder: Path, found: RunListing) -> list[Path]:
    """Return the subfolders of a folder, by name, without hidden ones."""
    try:
        with os.scandir(folder) as entries:
            every = sorted((each for each in entries if not each.name.startswith(".")), key=lambda each: each.name)
    except OSError as error:
        found.passed.append(Passed(folder, f"cannot be read: {error.strerror}"))
        return []
    linked = [Path(each.path) for each in every if each.is_symlink() and os.path.isdir(each)]  # noqa: PTH112 - as above
    found.passed += [Passed(path, "is a symbolic link, which is not followed") for path in linked]
    return [Path(each.path) for each in every if each.is_dir(follow_symlinks=False)]


def _take(folder: Path, found: RunListing) -> bool:
    if len(found.runs) >= MOST:
        raise UsageError(f"{folder}: there are more than {MOST:,} runs; name folders with fewer of them")
    try:
        found.runs.append(existing(folder))
    except UsageError as error:
        found.passed.append(passed(folder, error))
    return True


def passed(folder: Path, error: UsageError) -> Passed:
    """Return a skipped folder with the message of an error, without the folder's name at its start."""
    return Passed(folder, str(error).removeprefix(str(folder)).removeprefix("/").removeprefix(": "))
