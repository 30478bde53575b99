"""The way of a member to its first record, in stages: as rows, from statistics, and against the mock cluster."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from chaosk.probes._joins import JoinTimer, coordinator_since
from chaosk.probes.consume import Consume
from chaosk.rundir.events.live import LiveLog, read_live
from chaosk.rundir.events.payload import Payload, encode

from .conftest import RUN, Working

Work = Callable[..., Working]
_numbers = itertools.count()


def statistics(state: str, *, ts: int = 5_000_000, age: int = 400) -> str:
    """What librdkafka tells, as far as it matters."""
    return json.dumps({"ts": ts, "cgrp": {"state": state, "stateage": age}})


def test_since_when_the_coordinator_is_there() -> None:
    """5 s by librdkafka's clock less 400 ms; nothing while it is being looked for, nor for a client without a group."""
    assert coordinator_since(statistics("up")) == 4_600_000_000
    assert coordinator_since(statistics("wait-coord")) is None
    assert coordinator_since(json.dumps({"ts": 5_000_000})) is None


def rows(folder: Path) -> list[dict[str, Any]]:
    """The joins written there."""
    path = folder / "joins.arrows"
    return list(read_live(path).table.to_pylist()) if path.exists() else []


def test_a_join_is_written_once_all_of_it_is_known(tmp_path: Path) -> None:
    """Not before the statistics came; the coordinator's moment is theirs, and the order of the rest that of events."""
    with LiveLog(tmp_path) as log:
        joins = JoinTimer(log, ("reader", 0), "readers")
        joins.begins()
        joins.heard(statistics("query-coord"))
        joins.given(1, 3)
        joins.known()
        joins.took(time.monotonic_ns())
        joins.keep()
        log.flush()
        assert rows(tmp_path) == []
        joins.heard(statistics("up"))
        joins.keep()
    (row,) = rows(tmp_path)
    assert (row["group"], row["rebalance"], row["partitions"], row["coordinator"]) == ("readers", 1, 3, 4_600_000_000)
    assert row["began"] <= row["assigned"] <= row["fetched"] <= row["first"]


def test_a_join_that_the_next_one_overtakes_is_written_as_far_as_it_came(tmp_path: Path) -> None:
    """No record came before the partitions were taken again; and what never came to partitions is no join."""
    with LiveLog(tmp_path) as log:
        joins = JoinTimer(log, ("reader", 0), "readers")
        joins.begins()
        joins.given(0, 3)
        joins.begins()
        joins.begins()
        joins.given(1, 2)
        joins.end()
        joins.begins()
        joins.end()
    first, second = rows(tmp_path)
    assert [(row["rebalance"], row["partitions"], row["first"]) for row in (first, second)] == [
        (0, 3, None),
        (1, 2, None),
    ]
    assert first["assigned"] <= second["began"] <= second["assigned"]


@pytest.fixture
def filled(mock_cluster: str) -> Iterator[str]:
    """A topic of its own with 40 records."""
    topic = f"joined-{next(_numbers)}"
    writer = Producer({"bootstrap.servers": mock_cluster, "log_level": 2})
    for seq in range(40):
        writer.produce(topic, encode(RUN, Payload("writer", 0, seq, seq)), partition=0)
    assert writer.flush(20) == 0
    yield topic
    del writer


def test_a_coordinator_is_there_before_it_gives_partitions(tmp_path: Path) -> None:
    """Told as some milliseconds later by a client that was interrupted between two of its clocks."""
    with LiveLog(tmp_path) as log:
        joins = JoinTimer(log, ("reader", 0), "readers")
        joins.begins()
        joins.given(0, 3)
        late = time.monotonic_ns() // 1000 + 5_000
        joins.heard(statistics("up", ts=late, age=0))
        joins.took(time.monotonic_ns())
        joins.keep()
    (row,) = rows(tmp_path)
    assert row["began"] <= row["coordinator"] == row["assigned"]


def test_no_coordinator_is_there_before_a_process_first_asks_for_it(tmp_path: Path) -> None:
    """Told as some milliseconds earlier by such a client; in a later join it has been there all the time."""
    with LiveLog(tmp_path) as log:
        joins = JoinTimer(log, ("reader", 0), "readers")
        for rebalance in (0, 1):
            joins.begins()
            joins.given(rebalance, 3)
            joins.heard(statistics("up", ts=1, age=0))
            joins.end()
    first, later = rows(tmp_path)
    assert first["coordinator"] == first["began"]
    assert later["coordinator"] == 1_000


def test_a_member_tells_its_stages(work: Work, filled: str) -> None:
    """All five moments of the one join, in their order, on the clock of the deliveries."""
    probe = Consume.model_validate({"topic": filled, "group": f"{filled}-group", "commit": "sync"})
    working = work(probe, "reader")
    working.until(lambda state: state.ok >= 40 and bool(working.rows("joins")), within=40)
    working.end()
    (row,) = working.rows("joins")
    assert (row["probe"], row["incarnation"], row["rebalance"], row["partitions"]) == ("reader", 0, 0, 4)
    assert row["began"] <= row["assigned"] <= row["fetched"] <= row["first"]
    assert row["began"] <= row["coordinator"] <= row["assigned"]
    assert row["first"] == min(each["at"] for each in working.rows("reads"))
    assert row["assigned"] >= max(each["at"] for each in working.rows("assignments") if each["kind"] == "assign")


def test_who_joins_nothing_tells_nothing(work: Work, filled: str) -> None:
    """Partitions of one's own choice are no join."""
    working = work(Consume.model_validate({"topic": filled, "assign": [0], "start": "beginning"}), "reader")
    working.until(lambda state: state.ok >= 40)
    working.end()
    assert working.rows("joins") == []
