"""Simpler sequences than one that fails: fewer faults first, then the values written first, then shorter times."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from chaosk.campaign.explore.ddmin import ddmin
from chaosk.campaign.explore.sequence import Move, Sequence
from chaosk.campaign.explore.space import Space

HALVINGS = 2
"""How often half of what is left of a time is tried, once the least of it does not do."""


def smaller(space: Space, sequence: Sequence) -> Generator[Sequence, bool, Sequence]:
    """Yield sequences that are simpler than the last one that failed, and be sent whether each fails; return that one.

    All of them are of the space, but for the number of faults, which may be less than its least.
    """
    sequence = yield from ddmin(sequence)
    for number in range(len(sequence)):
        for move in _plainer(sequence[number]):
            candidate = _with(sequence, number, move)
            if (yield candidate):
                sequence = candidate
                break
        sequence = yield from _shorter(space, sequence, number)
    return sequence


def _plainer(move: Move) -> Iterator[Move]:
    """With the first values of all choices, if it has others."""
    first = tuple(0 for _ in move.picks)
    if move.picks != first:
        yield move.model_copy(update={"picks": first})


def _shorter(space: Space, sequence: Sequence, number: int) -> Generator[Sequence, bool, Sequence]:
    """With the least duration that still fails, as near as halving gets; then with the least time before it."""
    span = space.faults[sequence[number].fault].lasts
    lasts = sequence[number].lasts
    if span is not None and lasts is not None:
        low = span.min
        for halving in range(HALVINGS + 1):
            tried = low if halving == 0 else round((low + lasts) / 2, 1)
            if not low <= tried < lasts or (halving and tried == low):
                break
            candidate = _with(sequence, number, sequence[number].model_copy(update={"lasts": tried}))
            if (yield candidate):
                sequence, lasts = candidate, tried
            else:
                low = tried
    if not space.explore.overlap and sequence[number].start > space.explore.gap.min:
        candidate = _with(sequence, number, sequence[number].model_copy(update={"start": space.explore.gap.min}))
        if (yield candidate):
            sequence = candidate
    return sequence


def _with(sequence: Sequence, number: int, move: Move) -> Sequence:
    return (*sequence[:number], move, *sequence[number + 1 :])
