"""Simpler sequences than one that fails: fewer faults first, then the values written first, then shorter times."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from chaosk.campaign.explore.ddmin import ddmin
from chaosk.campaign.explore.sequence import DrawnFault, Sequence
from chaosk.campaign.explore.space import Space

HALVINGS = 2
"""Number of times that the remaining interval of a duration is halved, if its minimum does not fail."""


def smaller(space: Space, sequence: Sequence) -> Generator[Sequence, bool, Sequence]:
    """Yield simpler sequences than the last one that failed, be sent True for each that fails, and return the last one.

    All of them are from the space, except that they may have fewer faults than its minimum.
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


def _plainer(move: DrawnFault) -> Iterator[DrawnFault]:
    """Yield the fault with the first values of all its choices, if it has others."""
    first = tuple(0 for _ in move.picks)
    if move.picks != first:
        yield move.model_copy(update={"picks": first})


def _shorter(space: Space, sequence: Sequence, number: int) -> Generator[Sequence, bool, Sequence]:
    """Search the shortest duration that still fails, by halving, and then try the shortest time before the fault."""
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


def _with(sequence: Sequence, number: int, move: DrawnFault) -> Sequence:
    return (*sequence[:number], move, *sequence[number + 1 :])
