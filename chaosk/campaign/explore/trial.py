"""One sequence as a run: writing its scenario, running it, and recording the result."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chaosk.campaign.explore.breach import breaches, gravest
from chaosk.campaign.explore.feasibility import scenario_of
from chaosk.campaign.explore.record import Exploration, Trial, save
from chaosk.campaign.explore.sequence import Sequence, document, kinds, text
from chaosk.campaign.explore.space import Space
from chaosk.campaign.gate.attempts import ended
from chaosk.campaign.gate.child import Ended
from chaosk.campaign.gate.record import Attempt
from chaosk.core import files
from chaosk.core.errors import ExitCode
from chaosk.rundir.verdict import Verdict

SEQUENCES = "sequences"
"""Folder of the scenarios that are run."""
MOST_REFUSED = 3
"""Number of runs in a row that did not start after which the exploration ends: they have a common cause."""
_NOT_BEGUN = (ExitCode.USAGE, ExitCode.PREFLIGHT)
_HEALED = (ExitCode.PASS, ExitCode.FAIL, ExitCode.INCONCLUSIVE, *_NOT_BEGUN)
"""Exit codes of runs that left no fault in place."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A sequence to run."""

    part: Literal["round", "smaller"]
    number: int
    round: int
    """The round that drew it, or drew the sequence that it simplifies."""
    sequence: Sequence
    seed: int
    redrawn: int = 0


@dataclass(frozen=True, slots=True)
class Means:
    """The environment of an exploration."""

    space: Space
    folder: Path
    run: Callable[[Attempt, int], Ended]
    """Runs an attempt with a seed, to its end."""
    stop: threading.Event
    """Set once the exploration is to end."""
    say: Callable[[str], None]


def name_of(told: Exploration, what: Tried) -> str:
    """Return the name of its scenario."""
    smaller = f", smaller {what.number}" if what.part == "smaller" else ""
    return f"{told.name} (seed {told.seed}, round {what.round}{smaller})"


def carried_out(told: Exploration, means: Means, what: Tried, attempt: Attempt) -> Exploration:
    """Run a sequence and record the result; sets ``why_ended`` if no further run is allowed."""
    said = means.run(attempt, what.seed)
    attempt = ended(attempt, means.folder, said.exit_code, said.seconds, said.said)
    verdict = _verdict(means.folder, attempt) if attempt.exit_code == ExitCode.FAIL else None
    trial = Trial(
        part=what.part, number=what.number, sequence=what.sequence, steps=kinds(means.space, what.sequence),
        seed=what.seed, redrawn=what.redrawn, attempt=attempt,
        breaches=() if verdict is None else breaches(verdict),
        gravest=() if verdict is None else gravest(verdict),
    )  # fmt: skip
    told = told.model_copy(update={"trials": (*told.trials, trial), "interrupted": attempt.state == "broken off"})
    told = told.model_copy(update={"why_ended": _why_over(told)})
    save(means.folder, told)
    return told


def attempt_of(told: Exploration, means: Means, what: Tried, repeat: int = 1) -> Attempt:
    """Return the coming run of a sequence, after writing its scenario to disk.

    Raises DocumentError if the sequence makes no valid scenario, UsageError if it cannot be written.
    """
    name = name_of(told, what)
    scenario = scenario_of(means.space, what.sequence, name)
    path = means.folder / SEQUENCES / f"{what.part}-{what.number:03d}.yaml"
    comments = [f"Drawn from {means.space.file.name} by chaosk explore, seed {told.seed}, round {what.round}."]
    files.replace(path, text(document(means.space, what.sequence, name), comments), parents=True)
    return Attempt(file=str(path), scenario=scenario.name, digest=scenario.digest, repeat=repeat)


def _verdict(folder: Path, attempt: Attempt) -> Verdict | None:
    if attempt.folder is None or attempt.verdict is None:
        return None
    return Verdict.model_validate_json((folder / attempt.folder / "verdict.json").read_bytes())


def _why_over(told: Exploration) -> str | None:
    """Return the reason why no further run is allowed after the last trial; None if one is."""
    last = told.trials[-1].attempt
    if last.exit_code == ExitCode.NOT_HEALED:
        return f"{last.scenario} left the cluster unhealed"
    if last.state == "broken off":
        return "it was interrupted"
    if last.exit_code not in _HEALED:
        return f"{last.scenario} ended with {last.exit_code}, so healing was not confirmed"
    latest = [one.attempt.exit_code for one in told.trials[-MOST_REFUSED:]]
    if len(latest) == MOST_REFUSED and all(code in _NOT_BEGUN for code in latest):
        return f"{MOST_REFUSED} runs in a row did not begin, the last one because: {last.said}"
    return None
