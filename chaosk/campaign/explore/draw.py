"""Drawing a sequence: the same space, seed and round give the same one, in every process and with every Python.

Only ``random()`` of Python's generator is used, and seeding by text: Python guarantees that these do not change. Their
use here is versioned by :data:`VERSION`: it changes when a seed would give another sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from chaosk.campaign.explore.sequence import DrawnFault, Sequence
from chaosk.campaign.explore.space import Candidate, Space, Span, named
from chaosk.core.errors import UsageError

VERSION = 1
"""Version of the mapping from a seed to a sequence."""
MOST_DRAWS = 200
"""Maximum number of draws of one round; as many refusals in a row are not bad luck."""
_FINEST = 0.1
"""Resolution of drawn times in seconds."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The drawn sequence of a round."""

    sequence: Sequence
    seed: int
    """Seed of the run: it decides the run's own random choices, like ``random(1, brokers)``."""
    refused: tuple[str, ...]
    """Reasons for refusing the sequences drawn before it, one a draw."""


def draw(space: Space, seed: int, number: int, refused: Callable[[Sequence], str | None]) -> Drawn:
    """Draw the sequence of a round, counted from 1; ``refused`` returns the reason for drawing another one, or None.

    Raises UsageError after ``MOST_DRAWS`` refusals in a row.
    """
    chance = Random()  # noqa: S311 - repeatable on purpose
    chance.seed(f"chaosk explore {VERSION}/{seed}/{number}", version=2)
    run_seed = _below(chance, 2**32)
    why: list[str] = []
    for _ in range(MOST_DRAWS):
        sequence = _sequence(space, chance)
        if (told := refused(sequence)) is None:
            return Drawn(sequence, run_seed, tuple(why))
        why.append(told)
    raise UsageError(
        f"{space.file}: round {number} of seed {seed}: {MOST_DRAWS} sequences in a row were refused; widen the space, "
        f"or raise its limits of harm with `allow`; the last one was refused because:\n{why[-1]}"
    )


def _sequence(space: Space, chance: Random) -> Sequence:
    count = space.explore.count
    moves: list[DrawnFault] = []
    start = 0.0
    for number in range(1, count.min + _below(chance, count.max - count.min + 1) + 1):
        which = _below(chance, len(space.faults))
        gap = _time(chance, space.explore.gap)
        start = round(start + gap, 3) if space.explore.overlap else gap
        moves.append(_move(space.faults[which], named(number), which, start, chance))
    return tuple(moves)


def _move(candidate: Candidate, name: str, which: int, start: float, chance: Random) -> DrawnFault:
    picks = tuple(_below(chance, len(choice.options)) for choice in candidate.choices)
    lasts = None if candidate.lasts is None else _time(chance, candidate.lasts)
    return DrawnFault(name=name, fault=which, picks=picks, lasts=lasts, start=start)


def _time(chance: Random, span: Span) -> float:
    """Draw a time from a span, in tenths of a second from its beginning."""
    tenths = int(round((span.max - span.min) / _FINEST, 6))
    return round(span.min + _below(chance, tenths + 1) * _FINEST, 9)


def _below(chance: Random, end: int) -> int:
    """Draw a whole number from 0 on, less than ``end``."""
    return int(chance.random() * end)
