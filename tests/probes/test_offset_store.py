"""Offsets in a topic of the application's own: written, read back, and mistaken for nothing, on the mock cluster."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pydantic import ValidationError

from chaosk.probes import _client
from chaosk.probes._offset_store import Offsets, Restoring
from chaosk.probes.consume import Consume
from chaosk.rundir.events.live import LiveLog
from chaosk.rundir.events.payload import Payload, encode
from chaosk.spec.contracts.probe import Workplace

from .conftest import RUN, Working

Work = Callable[..., Working]
_numbers = itertools.count()
_NOBODY = "127.0.0.1:9"


def application(topic: str, **fields: Any) -> Consume:
    """The probe as an application that keeps its own offsets."""
    store = {"topic": f"{topic}-offsets"}
    own = {"topic": topic, "group": "billing", "assign": [0, 1], "offsets": store}
    return Consume.model_validate({**own, **fields})


@pytest.fixture
def filled(mock_cluster: str) -> Iterator[str]:
    """A topic of its own with 20 records in each of two partitions."""
    topic = f"stored-{next(_numbers)}"
    writer = Producer({"bootstrap.servers": mock_cluster, "log_level": 2})
    for seq in range(40):
        writer.produce(topic, encode(RUN, Payload("writer", 0, seq, seq)), partition=seq % 2)
    assert writer.flush(20) == 0
    writer.list_topics(f"{topic}-offsets", timeout=10)  # a producer's question makes it
    yield topic
    del writer


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"group": None}, "needs a group"),
        ({"assign": None}, "needs a group"),
        ({"commit": "async"}, "needs a group"),
        ({"commit": "automatic"}, "needs a group"),
        ({"start": "end"}, "determines the start"),
        ({"failing": {"every": 2, "handling": "dead_letter", "topic": "dead"}}, "excludes dead letters"),
        ({"offsets": {"topic": "orders"}}, "would read its own offsets"),
        ({"offsets": {"topic": "o", "restore": "twice"}}, "one_poll"),
        ({"offsets": {"topic": "o", "last": 0}}, "greater than or equal to 1"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], message: str) -> None:
    """Offsets without a name or a partition of one's own choice, and two opinions of where to begin."""
    with pytest.raises(ValidationError, match=message):
        application("orders", **fields)


def test_no_coordinator_is_asked_about_it() -> None:
    """It names no group that the cluster knows, both topics, and commits by itself."""
    probe = application("orders")
    assert (probe.groups(), probe.topics(), probe.reads()) == ((), ("orders", "orders-offsets"), ("orders",))
    assert probe.committing() == "sync"
    assert Consume.model_validate(probe.model_dump(mode="json", by_alias=True)) == probe


def test_a_second_process_begins_where_the_first_one_stored(work: Work, filled: str) -> None:
    """Ten records are read and stored before the end; the second process restores that and reads the rest, once."""
    probe = application(filled, commit_every="record", batch=1)
    first = work(probe, "app")
    first.until(lambda state: state.ok >= 10)
    first.end()
    stored = {0: None, 1: None, **{row["partition"]: row["offset"] for row in first.rows("commits")}}
    assert {(row["kind"], row["outcome"], row["group"]) for row in first.rows("commits")} == {
        ("topic", "ok", "billing")
    }
    assert [row["offset"] for row in first.rows("fetched")] == [None, None], "nothing was stored before"
    assert {row["topic"] for row in first.rows("sends")} == {f"{filled}-offsets"}
    second = work(probe, "app", 1)
    second.until(lambda state: state.lag == 0)
    second.end()
    assert {row["partition"]: row["offset"] for row in second.rows("fetched")} == stored
    places = [(row["partition"], row["offset"]) for row in first.rows("reads") + second.rows("reads")]
    assert sorted(places) == [(partition, offset) for partition in (0, 1) for offset in range(20)]
    assert [(row["acks"], row["idempotent"]) for row in second.rows("incarnations")] == [(-1, True)]
    assert [row["rows"] for row in second.rows("ends")] == [len(second.rows("reads")) + len(second.rows("sends"))]


def test_one_poll_restores_as_well_while_all_is_well(work: Work, filled: str) -> None:
    """The mistake shows only when the poll comes back empty: here it does not."""
    probe = application(filled, offsets={"topic": f"{filled}-offsets", "restore": "one_poll"})
    first = work(probe, "app")
    first.until(lambda state: state.lag == 0)
    first.end()
    second = work(probe, "app", 1)
    second.until(lambda state: state.lag == 0)
    second.end()
    assert {row["offset"] for row in second.rows("fetched")} == {20}
    assert second.rows("reads") == []


@pytest.mark.parametrize("reset", ["earliest", "latest"])
def test_nothing_stored_is_a_matter_of_the_reset(work: Work, filled: str, reset: str) -> None:
    """From the beginning, or nothing of what is there; no coordinator's offset comes between."""
    working = work(application(filled, config={"auto.offset.reset": reset}), "app")
    working.until(lambda state: state.lag == 0)
    working.end()
    assert len(working.rows("reads")) == (40 if reset == "earliest" else 0)


def test_who_gets_no_answer_believes_in_nothing_stored_or_waits(tmp_path: Path) -> None:
    """With no broker there: one poll finds nothing; reading until the end finds out nothing until it is told to end."""
    end = threading.Event()
    with LiveLog(tmp_path) as log:
        client = {"bootstrap.servers": _NOBODY, "log_level": 2}
        place = Workplace(RUN, "app", 0, client, log, end.is_set, lambda _state: None)
        errors = _client.ErrorReporter(place)
        hasty = Offsets(topic="o", restore="one_poll")
        assert Restoring(application("orders"), hasty, place, errors).restored() == {}
        threading.Timer(3, end.set).start()
        assert Restoring(application("orders"), Offsets(topic="o"), place, errors).restored() is None
    assert errors.count > 0
