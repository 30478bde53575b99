"""Flawless runs, one function a workload: whatever row of them is gone or changed, it is to be noticed."""

from __future__ import annotations

from collections.abc import Callable

from analysis.history import Row, ns
from everyrow.world import Member, World, named

FIRST, APART, RECORDS = -4.7, 0.8, 30
"""When the first record is due, how far they are apart, and how many there are."""
DUE = tuple(round(FIRST + APART * number, 3) for number in range(RECORDS))
ORDERS = {"orders": 2}
WRITER: Row = {"produce": {"topic": "orders", "rate": "10/s", "config": {"acks": "all", "enable.idempotence": True}}}
READER: Row = {"consume": {"topic": "orders", "group": "readers", "commit": "sync"}}
BOTH = [("orders", 0), ("orders", 1)]
CAREFUL: Row = {"kind": "consume", "isolation": "read_committed"}


def plain() -> World:
    """One writes to two partitions, a group of one member reads and commits; brokers are asked for their health."""
    world = World(
        ORDERS,
        {
            "writer": WRITER, "reader": READER,
            "health": {"health_check": {"every": "2s"}}, "caller": {"call": {"operation": "end_offsets"}},
        },
    )  # fmt: skip
    world.producer()
    world.process("reader", **CAREFUL, group="readers", commit="sync")
    world.process("health", kind="health_check")
    world.process("caller", kind="call")
    _write_in_turn(world)
    world.read_by(Member(), BOTH)
    for number in range(13):
        at = -4.5 + 2 * number
        for broker in (0, 2):
            world.add(
                "health_checks", broker=broker, due=at, began=at, connected=at + 0.001, closed=at + 0.002,
                answered=at + 0.0015,
            )  # fmt: skip
        world.add("calls", operation="end_offsets", began=at, completed=at + 0.004)
    return world.finished()


def keyed() -> World:
    """Records go by their keys; two members of a group share the partitions and commit without waiting."""
    world = World(
        ORDERS,
        {
            "writer": {"produce": WRITER["produce"] | {"keys": 4}},
            "first": {"consume": {"topic": "orders", "group": "readers", "commit": "async"}},
            "second": {"consume": {"topic": "orders", "group": "readers", "commit": "async"}},
        },
    )
    world.producer()
    for probe in ("first", "second"):
        world.process(probe, **CAREFUL, group="readers", commit="async")
    for number, at in enumerate(DUE):
        world.append(("orders", (number % 4) // 2), at)
    world.read_by(Member("first", commit="async"), [("orders", 0)])
    world.read_by(Member("second", commit="async"), [("orders", 1)])
    return world.finished()


def transactional() -> World:
    """One writes in transactions of three records, of which the fifth is aborted."""
    world = World(
        ORDERS,
        {
            "writer": {"produce": WRITER["produce"] | {"transaction": {"records": 3, "abort_every": 5}}},
            "reader": READER,
        },
    )
    world.producer()
    world.process("reader", **CAREFUL, group="readers", commit="sync")
    for number in range(0, RECORDS, 3):
        records = [(("orders", each % 2), DUE[each]) for each in range(number, number + 3)]
        world.transaction(f"writer/0/{number // 3}", records, committed=number != 12)
    world.read_by(Member(), BOTH)
    return world.finished()


def transforming() -> World:
    """An application reads, writes one record for each and commits, exactly once; its third transaction is aborted."""
    world = World(
        {"orders": 1, "results": 1},
        {
            "writer": WRITER,
            "pipe": {"transform": {"topic": "orders", "to": "results", "group": "pipes"}},
        },
    )
    world.producer()
    world.process(
        "pipe", **CAREFUL, group="pipes", commit="none", acks=-1, idempotent=True, max_in_flight=5
    )  # fmt: skip
    world.rows["incarnations"][-1]["kind"] = "transform"
    for at in DUE:
        world.append(("orders", 0), at)
    _piped(world)
    return world.finished()


def static() -> World:
    """A member with a ``group.instance.id`` is started again, and goes on with its partitions without a rebalance."""
    world = World(
        ORDERS,
        {
            "writer": WRITER,
            "reader": {"consume": READER["consume"] | {"config": {"group.instance.id": "one"}}},
        },
    )
    world.entry = {"name": "again", "at": "1s", "restart_probe": {"probe": "reader"}}
    world.record["entries"] = [{"entry": "again", "status": "done"}]
    (fault,) = world.rows["faults"]
    fault |= {
        "fault": "again", "step": "restart_probe", "targets": "reader", "applied": ns(1.9), "heal_invoked": None,
        "healed": None,
    }  # fmt: skip
    world.producer()
    world.process("reader", **CAREFUL, group="readers", commit="sync", stopped=1.2)
    world.process("reader", 1, **CAREFUL, group="readers", commit="sync", started=1.5)
    _write_in_turn(world)
    world.read_by(Member(ended=1.2, leaves=False), BOTH)
    world.read_by(Member(incarnation=1, began=1.6), BOTH)
    return world.finished()


def assigned() -> World:
    """A reader without a group takes both partitions from their beginning."""
    world = World(ORDERS, {"writer": WRITER, "reader": {"consume": {"topic": "orders", "assign": "all"}}})
    world.producer()
    world.process("reader", **CAREFUL, commit="none")
    _write_in_turn(world)
    world.read_by(Member(group=None), BOTH)
    return world.finished()


def compacted() -> World:
    """A compacted topic, in which the cleaner has not taken anything away yet."""
    world = World(
        ORDERS,
        {"writer": {"produce": WRITER["produce"] | {"keys": 4}}, "reader": READER},
    )
    world.producer()
    world.process("reader", **CAREFUL, group="readers", commit="sync")
    world.config["orders"] |= {"cleanup.policy": "compact", "segment.ms": 2_000}
    _write_in_turn(world)
    world.read_by(Member(), BOTH)
    return world.finished()


def two_topics() -> World:
    """A writer and a group for each of two topics."""
    probes: dict[str, Row] = {}
    for topic in ("orders", "payments"):
        probes[f"{topic}-writer"] = {"produce": WRITER["produce"] | {"topic": topic}}
        probes[f"{topic}-reader"] = {"consume": {"topic": topic, "group": f"{topic}-readers", "commit": "sync"}}
    world = World({"orders": 1, "payments": 1}, probes)
    for topic in ("orders", "payments"):
        world.producer(f"{topic}-writer")
        world.process(f"{topic}-reader", **CAREFUL, group=f"{topic}-readers", commit="sync")
        for at in DUE:
            world.append((topic, 0), at, f"{topic}-writer")
        world.read_by(Member(f"{topic}-reader", group=f"{topic}-readers"), [(topic, 0)])
    return world.finished()


WORKLOADS: dict[str, Callable[[], World]] = {
    make.__name__: make for make in (plain, keyed, transactional, transforming, static, assigned, compacted, two_topics)
}
"""By name."""


def _write_in_turn(world: World) -> None:
    for number, at in enumerate(DUE):
        world.append(("orders", number % 2), at)


def _piped(world: World) -> None:
    """The transform ``pipe``: five inputs to a transaction; what the third would have done the fourth does."""
    pipe = Member("pipe", group="pipes")
    place, into = ("orders", 0), ("results", 0)
    world.given(pipe, [place])
    entries = [entry for _, entry in world.logs[place].shown("read_committed")]
    attempts = [(0, True), (5, True), (10, False), (10, True), (15, True), (20, True), (25, True)]
    begins = [
        round(entries[first + 4].at + (0.45 if number == 3 else 0.05), 4) for number, (first, _) in enumerate(attempts)
    ]
    calls = sorted([*begins, *(-5.7 + second for second in range(26))])
    for poll, at in enumerate(calls):
        world.add("polls", **pipe.who, poll=poll, invoked=at, completed=at + 0.02, records=5 if at in begins else 0)
    n = 0
    for number, ((first, committed), begun) in enumerate(zip(attempts, begins, strict=True)):
        txn, inputs = f"pipe/0/{number}", entries[first : first + 5]
        for each, entry in enumerate(inputs):
            at = begun + 0.01 + each / 1e5
            world.deliver(pipe, place, entry, poll=calls.index(begun), n=n, at=at, txn=txn)
            world.add("outputs", **pipe.who, seq=n, **named(place), offset=entry.offset, at=at)
            world.append(into, begun + 0.03 + each / 1e4, "pipe", txn)
            n += 1
        reached = inputs[-1].offset + 1
        if committed:
            world.add(
                "txn_offsets", **pipe.who, txn=txn, group="pipes", **named(place), offset=reached,
                at=begun + 0.05,
            )  # fmt: skip
            world.committed["pipes", place] = reached
        ended = world.decide(txn, begun, begun + 0.06, "pipe", committed=committed)
        if not committed:
            world.add("seeks", **pipe.who, **named(place), offset=inputs[0].offset, at=ended + 0.001, kind="seek")
    world.taken(pipe, [place])
