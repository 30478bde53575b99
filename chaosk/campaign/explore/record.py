"""``explore.json``: what was to be tried and what became of it, written anew after every run."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from chaosk.campaign.explore.sequence import Move, document, text
from chaosk.campaign.explore.space import Space
from chaosk.campaign.gate.record import Attempt
from chaosk.campaign.gate.store import Store
from chaosk.core.model import Model
from chaosk.document.nodes import Plain

NAME = "explore.json"
VERSION = 1
"""Version of the format; it changes when a field changes its meaning or goes away."""

Moves = Annotated[tuple[Move, ...], Field(strict=False)]
Names = Annotated[tuple[str, ...], Field(strict=False)]


class Trial(Model):
    """One run of a sequence."""

    part: Literal["round", "smaller"]
    """Drawn, or made of what was found."""
    number: int
    """Of the round or of the smaller sequence, from 1."""
    sequence: Moves
    steps: Names
    """What its faults are, in order."""
    seed: int
    """Of the run."""
    redrawn: int = 0
    """How many sequences of that round were drawn before and refused."""
    attempt: Attempt
    """Its run."""
    breaches: Names = ()
    """What it showed to be wrong, gravest first."""
    gravest: Names = ()
    """Of these what it is held to have found."""


class Found(Model):
    """A sequence that fails."""

    round: int
    """Which drew it."""
    sequence: Moves
    breaches: Names
    """What a smaller sequence has to show as well."""
    run: str | None
    """Its run directory, seen from the folder."""


class Exploration(Model):
    """All of one exploration."""

    version: int = VERSION
    began: str
    """UTC, like ``2026-11-24T01:02:03Z``."""
    space: str
    """The space's file."""
    name: str
    """The space's name."""
    digest: str
    """What tells the space from another text of it."""
    sets: dict[str, str] = Field(default_factory=dict)
    """What ``--set`` gave it."""
    inventory: str | None = None
    """The inventory's file; None for a lab on this machine."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Of chaosk and the libraries that act or judge."""
    seed: int
    """Decides every draw."""
    first: int = 1
    """The first round."""
    seconds: float
    """How long rounds are begun: what they took is counted."""
    rounds: int | None = None
    """How many at most."""
    shrink_seconds: float
    """How long smaller sequences are begun; 0: what was found is left as it is."""
    tries: int = 2
    """How often a smaller sequence is run before it counts as one that does not fail."""
    trials: Annotated[tuple[Trial, ...], Field(strict=False)] = ()
    found: Found | None = None
    smallest: Found | None = None
    """The smallest sequence that failed alike; None before one was looked for."""
    interrupted: bool = False
    why_ended: str | None = None
    """Why it is over; None while it is not."""

    def of(self, part: str) -> tuple[Trial, ...]:
        """The trials of one part, in order."""
        return tuple(one for one in self.trials if one.part == part)

    def spent(self, part: str) -> float:
        """Seconds that the trials of one part took."""
        return sum(one.attempt.seconds or 0.0 for one in self.of(part))


STORE = Store(NAME, Exploration, VERSION, "chaosk explore")


def digest_of(space: Space) -> str:
    """Equal for spaces from which the same is drawn, whatever their comments."""
    told: dict[str, Plain] = document(space, (), space.name)
    drawn = space.explore.model_dump_json(by_alias=True)
    return hashlib.sha256(f"{text(told)}\n{drawn}".encode()).hexdigest()[:16]


def save(folder: Path, told: Exploration) -> None:
    """Write ``explore.json``; raises UsageError if it cannot be written."""
    STORE.save(folder, told)


def load(path: Path) -> Exploration:
    """The exploration in a file or folder; raises UsageError if there is none that this chaosk reads."""
    return STORE.load(path)
