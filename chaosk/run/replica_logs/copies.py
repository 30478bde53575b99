"""Comparison of a partition's replicas, from the batches in each one's files. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from chaosk.run.replica_logs.parse import Batch, DumpedLog


class Copies(NamedTuple):
    """The replicas of a partition compared over a range of offsets, both ends included."""

    first: int
    last: int
    same: bool | None = None
    """True if all hold the same batches there, or all hold none; None if not all answered."""
    held: str | None = None
    """If they differ: by broker the batch at the first of these offsets, in words."""
    why: str | None = None
    """Reason why it is unknown."""


def copies(first: int, last: int, logs: Mapping[int, DumpedLog]) -> tuple[Copies, ...]:
    """Return the ranges from ``first`` to ``last`` in which replicas agree, or differ; ``logs``: all, by broker."""
    if not logs:
        return (Copies(first, last, why="it has no replica"),)
    if troubles := [f"broker {broker}: {log.trouble}" for broker, log in sorted(logs.items()) if log.trouble]:
        return (Copies(first, last, why="; ".join(troubles)),)
    by_broker = {broker: sorted(log.batches) for broker, log in sorted(logs.items())}
    found = (_of(low, high, by_broker) for low, high in _pieces(first, last, by_broker))
    return tuple(_joined(list(some)) for _, some in groupby(found, key=lambda one: one.same))


def _pieces(first: int, last: int, by_broker: Mapping[int, Sequence[Batch]]) -> Iterator[tuple[int, int]]:
    """Split the range at every start and end of a batch on any replica."""
    edges = {first, last + 1}
    for batches in by_broker.values():
        edges |= {edge for batch in batches for edge in (batch.first, batch.last + 1) if first < edge <= last}
    cuts = sorted(edges)
    for low, beyond in pairwise(cuts):
        yield low, beyond - 1


def _of(low: int, high: int, by_broker: Mapping[int, Sequence[Batch]]) -> Copies:
    held = {broker: _at(low, batches) for broker, batches in by_broker.items()}
    if len(set(held.values())) == 1:
        return Copies(low, high, same=True)
    told = "; ".join(f"broker {broker}: {_words(one)}" for broker, one in held.items())
    return Copies(low, high, same=False, held=told)


def _at(offset: int, batches: Sequence[Batch]) -> Batch | None:
    """Return the batch with an offset."""
    number = bisect_right(batches, offset, key=lambda batch: batch.first) - 1
    return batches[number] if number >= 0 and batches[number].last >= offset else None


def _words(batch: Batch | None) -> str:
    if batch is None:
        return "nothing"
    return f"{batch.first} to {batch.last}, leader epoch {batch.leader_epoch}, crc {batch.crc:08x}"


def _joined(some: Sequence[Copies]) -> Copies:
    """Join adjacent ranges with the same result; if replicas differ, the first one's details are kept."""
    return some[0]._replace(last=some[-1].last)
