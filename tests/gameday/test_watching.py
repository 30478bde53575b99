"""What is watched for the console alone: groups over time, latencies from the probes' own event streams."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from chaosk.cluster.group_state import GroupState
from chaosk.run.gameday.groups import GroupWatch, Watched, after
from chaosk.run.gameday.latencies import Latencies
from chaosk.rundir.events.live import LiveLog


def state(**fields: Any) -> GroupState:
    """A group."""
    usual = GroupState("billing", "Stable", members=2, generation="1", committed=10)
    return replace(usual, **fields)


def test_a_rebalance_and_a_commit_are_seen() -> None:
    """Other members or other partitions; other offsets. The first look changes nothing."""
    first = after(Watched(GroupState("billing")), state(), 5)
    assert (first.rebalances, first.moved) == (0, None)
    second = after(first, state(generation="2", committed=11), 7)
    assert (second.rebalances, second.moved) == (1, 7)
    assert after(second, state(generation="2", committed=11), 9) == second


def test_a_look_that_nobody_answers_counts_nothing() -> None:
    """While the coordinator is down the group is as it was, and why nothing new is known is told."""
    known = after(Watched(GroupState("billing")), state(), 5)
    blind = after(known, GroupState("billing", problem="no coordinator answers"), 6)
    assert (blind.state.problem, blind.state.committed, blind.state.lag) == ("no coordinator answers", 10, None)
    assert after(blind, state(), 7).rebalances == 0


def test_every_group_is_looked_at_once_a_round() -> None:
    """A group that is named twice is one."""
    asked: list[str] = []

    def look(group: str) -> GroupState:
        asked.append(group)
        return state(group=group)

    watch = GroupWatch(["a", "b", "a"], look)
    watch.start()
    while len(asked) < 2:
        time.sleep(0.01)
    watch.end()
    watch.join(5)
    assert asked == ["a", "b"]
    assert [one.state.group for one in watch.watched] == ["a", "b"]


def send(seq: int, began: int, took: int, outcome: str = "ok") -> tuple[object, ...]:
    """A row of `sends`."""
    return ("writer", 0, seq, "t", 0, began, began, began + took, outcome, None, seq, None, None, None)


def test_latencies_of_what_was_written_since(tmp_path: Path) -> None:
    """From when it was due; what failed has none, and what comes later is read on from where it ended."""
    with LiveLog(tmp_path / "writer-0") as log:
        found = Latencies(tmp_path)
        assert found.p99() == {}
        for seq in range(10):
            log.write("sends", send(seq, 10**12, 20_000_000))
        log.write("sends", send(10, 10**12, 9_000_000_000, "info"))
        log.flush()
        assert found.p99() == {"writer": 0.02}
        log.write("sends", send(11, 10**12, 1_000_000_000))
        log.flush()
        assert found.p99()["writer"] > 0.5


def test_half_a_batch_waits_for_its_rest(tmp_path: Path) -> None:
    """A file that is being written to is no error."""
    with LiveLog(tmp_path / "writer-0") as log:
        log.write("sends", send(0, 10**12, 20_000_000))
    whole = (tmp_path / "writer-0" / "sends.arrows").read_bytes()
    (tmp_path / "other-0").mkdir()
    part = tmp_path / "other-0" / "sends.arrows"
    found = Latencies(tmp_path)
    for cut in range(0, len(whole), 37):
        part.write_bytes(whole[:cut])
        found.p99()
    part.write_bytes(whole)
    assert found.p99()["other"] == 0.02
