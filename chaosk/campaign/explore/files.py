"""The files of an exploration for people: explore.md, and the failing sequences as scenarios."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from chaosk.campaign.explore.markdown import markdown
from chaosk.campaign.explore.record import Exploration, FailingSequence
from chaosk.campaign.explore.sequence import document, text
from chaosk.campaign.explore.space import Space
from chaosk.core.figures import counted
from chaosk.core.files import replace

FOUND, SMALLEST, REPORT = "found.yaml", "smallest.yaml", "explore.md"


def write(folder: Path, told: Exploration, space: Space) -> Path:
    """Write the report, and the failing sequences as scenarios; return the report's path. Raises UsageError."""
    for name, found in ((FOUND, told.found), (SMALLEST, told.smallest)):
        if found is not None:
            title = f"{told.name} (seed {told.seed}, round {found.round}, {name.partition('.')[0]})"
            comments = _comments(told, found, name)
            replace(folder / name, text(document(space, found.sequence, title), comments))
    replace(folder / REPORT, markdown(told, space, _again(told, folder)))
    return folder / REPORT


def replay(told: Exploration, found: FailingSequence, file: Path) -> str:
    """Return the command that runs a failing sequence again."""
    trial = next(one for one in told.trials if one.attempt.folder == found.run)
    words = ["chaosk", "run", str(file)]
    words += [] if told.inventory is None else ["--inventory", told.inventory]
    return shlex.join([*words, "--seed", str(trial.seed)])


def _again(told: Exploration, folder: Path) -> str:
    """Return the command that runs the smallest failing sequence again; empty if there is none."""
    if told.smallest is not None:
        return replay(told, told.smallest, folder / SMALLEST)
    return replay(told, told.found, folder / FOUND) if told.found is not None else ""


def _comments(told: Exploration, found: FailingSequence, name: str) -> Iterator[str]:
    trial = next(one for one in told.trials if one.attempt.folder == found.run)
    where = f"in round {found.round} of seed {told.seed}"
    yield f"Found by chaosk explore in {Path(told.space).name}, {where}: {', '.join(found.breaches)}."
    yield f"What its run showed: {trial.attempt.said}"
    yield f"That run: {found.run}"
    if told.found is not None and name == SMALLEST:
        before, runs = len(told.found.sequence), len(told.of("smaller"))
        yield f"Made smaller: from {counted(before, 'fault')} to {len(found.sequence)}, by {runs} runs."
    yield f"Again: {replay(told, found, Path(name))}"
