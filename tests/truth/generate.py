"""A generator of flawless stories: whole runs of a modelled cluster in which nothing went wrong that is not allowed."""

from __future__ import annotations

from itertools import groupby
from random import Random

from analysis.history import ns
from truth.logs import Log, last_stable, shown
from truth.pipes import transform
from truth.readers import consume
from truth.story import END, INTO, LEVELS, Story, named, random
from truth.writers import produce

TRIMMED = END + 0.95
"""When retention deletes: after everything was read."""
SHAPE = (("orders", 3), ("orders", 2), ("dirty", 1), ("trimmed", 1), ("trimmed", 2), ("compacted", 1))
MOST = 4
"""Partitions that a topic has in one story."""


def flawless(seed: int) -> Story:
    """A run drawn by the seed: logs, producers, groups and readers, the watcher's samples, the tail audit."""
    draw = random("flawless", seed)
    story = Story(seed)
    shape = dict.fromkeys(["orders"], 2) | dict(draw.sample(SHAPE, 2))
    if draw.random() < 0.5:
        shape[INTO] = draw.randint(1, 2)
    for topic, partitions in sorted(shape.items()):
        for partition in range(partitions):
            story.logs[topic, partition] = Log(topic, partition, hit=draw.random() < 0.4)
    produce(story, draw)
    transform(story, draw)
    consume(story, draw)
    for log in story.logs.values():
        if log.topic == "trimmed" and log.end:
            log.start = draw.randrange(log.end // 2 + 1)
        _audit(story, log)
        _watch(story, draw, log)
        _dump(story, log)
    story.free = [place for place in story.logs if place[0] != INTO]
    return story


def _audit(story: Story, log: Log) -> None:
    """A fresh reader after the run, at both isolation levels."""
    for isolation in LEVELS:
        story.add(
            "audit_ranges", isolation=isolation, **named(log.place), log_start=log.start, end=log.end, complete=True
        )
        for _, entry in shown(log, story.fates, isolation):
            if entry.value and entry.offset >= log.start:
                producer, incarnation, seq = entry.value
                story.add(
                    "audit", isolation=isolation, **named(log.place), offset=entry.offset, producer=producer,
                    producer_incarnation=incarnation, seq=seq, intact=True, leader_epoch=log.epoch(entry.at),
                )  # fmt: skip


def _watch(story: Story, draw: Random, log: Log) -> None:
    """The watcher's samples."""
    at = -5.9
    while at < END + 1.5:
        leader = log.leader(at)
        for asked in (0, leader) if leader >= 0 else (0,):
            story.add(
                "partitions", at=ns(at), asked=asked, **named(log.place), leader=leader, leader_epoch=log.epoch(at),
                replicas=[1, 2, 0], isr=list(log.isr(at) if log.hit else (0, 1, 2)),
            )  # fmt: skip
        if leader >= 0:
            end = sum(entry.at <= at for entry in log.entries)
            story.add(
                "offsets", at=ns(at), asked=leader, **named(log.place), leader=True, high_watermark=end, log_end=end,
                log_start=log.start if at > TRIMMED else 0, last_stable=last_stable(log, story.fates, at),
            )  # fmt: skip
        at += draw.uniform(0.8, 1.4) if at < 21 else 4.5


def _dump(story: Story, log: Log) -> None:
    """What is fetched from the leader's own files: stretches of one transaction's records, and what ended it."""
    markers = {entry.txn: entry.offset for entry in log.entries if entry.txn and entry.value is None}
    names = sorted({owner(txn) for txn in story.fates})
    for txn, entries in groupby(log.entries, key=lambda entry: entry.txn if entry.value else None):
        if txn is not None:
            offsets = [entry.offset for entry in entries]
            story.add(
                "stretches", **named(log.place), first=offsets[0], last=offsets[-1],
                producer_id=names.index(owner(txn)), producer_epoch=0, marker=markers[txn],
            )  # fmt: skip
    for txn, offset in markers.items():
        kind = "commit" if txn and story.fates[txn].committed else "abort"
        number = names.index(owner(txn or ""))
        story.add("markers", **named(log.place), offset=offset, producer_id=number, producer_epoch=0, kind=kind)
    story.add("dumps", **named(log.place), broker=1, log_start=0, end=log.end, complete=True)


def owner(txn: str) -> str:
    """The process that a transaction is of, by its name."""
    return txn.rpartition("/")[0]
