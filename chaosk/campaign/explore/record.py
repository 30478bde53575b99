"""``explore.json``: the settings and trials of an exploration, rewritten after every run."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from chaosk.campaign.explore.sequence import DrawnFault, document, text
from chaosk.campaign.explore.space import Space
from chaosk.campaign.gate.record import Attempt
from chaosk.campaign.gate.store import Store
from chaosk.core.model import Model
from chaosk.document.nodes import Plain

NAME = "explore.json"
VERSION = 1
"""Version of the format; it changes when a field changes its meaning or is removed."""

Moves = Annotated[tuple[DrawnFault, ...], Field(strict=False)]
Names = Annotated[tuple[str, ...], Field(strict=False)]


class Trial(Model):
    """One run of a sequence."""

    part: Literal["round", "smaller"]
    """``round``: a drawn sequence; ``smaller``: a simpler one than the failing sequence."""
    number: int
    """Number of the round or of the smaller sequence, from 1."""
    sequence: Moves
    steps: Names
    """Steps of its faults, in order."""
    seed: int
    """Seed of the run."""
    redrawn: int = 0
    """Number of sequences of this round that were drawn before and refused."""
    attempt: Attempt
    """Its run."""
    breaches: Names = ()
    """Kinds of its violations and missed objectives, gravest first."""
    gravest: Names = ()
    """The kinds that count as its result: those of its violations, else of its missed objectives."""


class FailingSequence(Model):
    """A sequence that fails."""

    round: int
    """The round that drew it."""
    sequence: Moves
    breaches: Names
    """The kinds of violations that a smaller sequence has to show as well."""
    run: str | None
    """Its run directory, relative to the exploration's folder."""


class Exploration(Model):
    """The record of one exploration."""

    version: int = VERSION
    began: str
    """UTC, like ``2026-11-24T01:02:03Z``."""
    space: str
    """The space's file."""
    name: str
    """The space's name."""
    digest: str
    """Digest of the space, without its comments."""
    sets: dict[str, str] = Field(default_factory=dict)
    """Values given with ``--set``."""
    inventory: str | None = None
    """The inventory's file; None for a lab on this machine."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Versions of chaosk and of the libraries that it uses."""
    seed: int
    """Decides every draw."""
    first: int = 1
    """The first round."""
    seconds: float
    """Seconds of run time after which no further round starts."""
    rounds: int | None = None
    """Maximum number of rounds; None for no limit."""
    shrink_seconds: float
    """Seconds of run time after which no further smaller sequence starts; 0 to leave the failing sequence as it is."""
    tries: int = 2
    """Number of runs without failure after which a smaller sequence counts as not failing."""
    trials: Annotated[tuple[Trial, ...], Field(strict=False)] = ()
    found: FailingSequence | None = None
    smallest: FailingSequence | None = None
    """The smallest sequence that failed alike; None before the search for one."""
    interrupted: bool = False
    why_ended: str | None = None
    """Reason for its end; None while it can go on."""

    def of(self, part: str) -> tuple[Trial, ...]:
        """Return the trials of one part, in order."""
        return tuple(one for one in self.trials if one.part == part)

    def spent(self, part: str) -> float:
        """Return the seconds that the trials of one part took."""
        return sum(one.attempt.seconds or 0.0 for one in self.of(part))


STORE = Store(NAME, Exploration, VERSION, "chaosk explore")


def digest_of(space: Space) -> str:
    """Return a digest of a space: equal for spaces that differ only in comments."""
    told: dict[str, Plain] = document(space, (), space.name)
    drawn = space.explore.model_dump_json(by_alias=True)
    return hashlib.sha256(f"{text(told)}\n{drawn}".encode()).hexdigest()[:16]


def save(folder: Path, told: Exploration) -> None:
    """Write ``explore.json``; raises UsageError if it cannot be written."""
    STORE.save(folder, told)


def load(path: Path) -> Exploration:
    """Load the exploration in a file or folder; raises UsageError if there is none in this version's format."""
    return STORE.load(path)
