"""Delta debugging: the smallest failing part of a sequence.

Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input (2002), the algorithm ddmin.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def ddmin(items: tuple[T, ...]) -> Generator[tuple[T, ...], bool, tuple[T, ...]]:
    """Yield parts of ``items``, be sent True for each that fails, and return the least failing part.

    ``items`` fails as a whole. No single item can be left out of the result. Parts are in order, and each is smaller
    than the last one that failed, so a caller that stops early keeps that one. The empty part is yielded last, once all
    but one item are gone.
    """
    parts = 2
    while len(items) > 1:
        chunks = _split(items, min(parts, len(items)))
        smaller = yield from _first(chunks)
        if smaller is not None:
            items, parts = smaller, 2
            continue
        rests = [_without(chunks, number) for number in range(len(chunks))] if len(chunks) > 2 else []
        smaller = yield from _first(rests)
        if smaller is not None:
            items, parts = smaller, max(len(chunks) - 1, 2)
        elif len(chunks) == len(items):
            return items
        else:
            parts = 2 * len(chunks)
    if items and (yield ()):
        return ()
    return items


def _first(several: list[tuple[T, ...]]) -> Generator[tuple[T, ...], bool, tuple[T, ...] | None]:
    """Return the first part that fails; None if none does."""
    for one in several:
        if (yield one):
            return one
    return None


def _split(items: tuple[T, ...], parts: int) -> list[tuple[T, ...]]:
    """Split into parts of nearly equal length, none empty."""
    ends = [len(items) * number // parts for number in range(parts + 1)]
    return [items[start:end] for start, end in pairwise(ends)]


def _without(chunks: list[tuple[T, ...]], left_out: int) -> tuple[T, ...]:
    return tuple(item for number, chunk in enumerate(chunks) if number != left_out for item in chunk)
