"""The probe ``call`` against librdkafka's mock cluster, which does not know all operations, and silent brokers."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import OFFSET_INVALID, TopicPartition
from confluent_kafka.admin import AdminClient
from fake_servers import closing, server, silent, unused_port
from probes.conftest import Working
from pydantic import ValidationError

from chaosk.core.errors import UsageError
from chaosk.probes._operations import UnansweredError, asking
from chaosk.probes.call import Call

Work = Callable[..., Working]


def call(**fields: Any) -> Call:
    """A calling probe from its YAML fields: ten calls a second, given up after five."""
    return Call.model_validate({"every": "100ms", "timeout": "5s", **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {"operation": "metadata"},
        {"operation": "metadata", "topic": "orders"},
        {"operation": "end_offsets", "topic": "orders"},
        {"operation": "committed_offsets", "topic": "orders", "group": "readers"},
    ],
)
@pytest.mark.parametrize("client", ["kept", "fresh"])
def test_each_call_is_a_row_with_its_time(work: Work, fields: dict[str, str], client: str) -> None:
    """One after the other at their rate, all answered but perhaps the last, and as many rows as the end marker says.

    The last may be under way when the probe is told to end, and a busy machine keeps it so for longer than is waited.
    """
    working = work(call(**fields, client=client))
    working.until(lambda state: state.ok >= 5)
    working.end()
    rows = working.rows("calls")
    assert {row["operation"] for row in rows} == {fields["operation"]}
    ended = [(row["outcome"], row["error"]) for row in rows]
    assert set(ended[:-1]) == {("ok", None)}
    assert ended[-1] in {("ok", None), ("info", "UNFINISHED")}
    assert all(row["began"] <= row["completed"] for row in rows)
    assert all(before["completed"] <= after["began"] for before, after in pairwise(rows))
    assert len(rows) == working.rows("ends")[0]["rows"] == working.rows("ends")[0]["scheduled"]
    (begun,) = working.rows("incarnations")
    assert (begun["kind"], begun["group"]) == ("call", None)


def test_nobody_there_is_a_failure_with_its_name(work: Work) -> None:
    """A port without a listener: the client tries until the call's time is over, and says so."""
    servers = f"127.0.0.1:{unused_port()}"
    working = work(call(operation="metadata", timeout="300ms"), **{"bootstrap.servers": servers})
    working.until(lambda state: state.fail >= 2)
    working.end()
    rows = working.rows("calls")
    assert {(row["outcome"], row["error"]) for row in rows if row["outcome"] != "info"} == {("fail", "_TRANSPORT")}
    assert all(row["completed"] - row["began"] >= 300_000_000 for row in rows if row["outcome"] == "fail")
    assert "_ALL_BROKERS_DOWN" in {row["error"] for row in working.rows("errors")}


def test_a_broker_that_never_answers_costs_the_call_its_time(work: Work) -> None:
    """Connected and silent: nothing fails before the time is over."""
    with server(silent) as place:
        working = work(
            call(operation="metadata", timeout="500ms"), **{"bootstrap.servers": f"{place.address}:{place.port}"}
        )
        working.until(lambda state: state.fail >= 2)
        working.end()
    failed = [row for row in working.rows("calls") if row["outcome"] == "fail"]
    assert all(row["completed"] - row["began"] >= 490_000_000 for row in failed)
    assert {row["error"] for row in failed} <= {"_TRANSPORT", "_TIMED_OUT"}


def test_the_end_does_not_wait_for_a_call_that_hangs(work: Work) -> None:
    """It is given up: ``info``, as long as it took, and counted like the rest."""
    connected = threading.Event()

    def heard(connection: socket.socket) -> None:
        connected.set()
        silent(connection)

    with server(heard) as place:
        working = work(
            call(operation="metadata", timeout="60s"), **{"bootstrap.servers": f"{place.address}:{place.port}"}
        )
        assert connected.wait(20)
        time.sleep(0.2)  # the client connects as soon as it is made: the call is a moment later
        working.end()
    (row,) = working.rows("calls")
    assert (row["outcome"], row["error"]) == ("info", "UNFINISHED")
    assert working.rows("ends")[0]["rows"] == 1


def test_it_begins_at_the_brokers_it_is_told_of(work: Work, mock_cluster: str) -> None:
    """One that is dead is all it knows: nothing is answered, though the inventory's others are well."""
    host, port = mock_cluster.split(",", maxsplit=1)[0].split(":")
    places = {1: (host, int(port)), 2: ("127.0.0.1", unused_port())}
    well = work(call(operation="metadata", brokers=[1]), name="well", brokers=places)
    badly = work(call(operation="metadata", brokers=[2], timeout="300ms"), name="badly", brokers=places)
    well.until(lambda state: state.ok >= 2)
    badly.until(lambda state: state.fail >= 2)
    well.end()
    badly.end()
    assert {row["outcome"] for row in well.rows("calls")} == {"ok"}
    assert "ok" not in {row["outcome"] for row in badly.rows("calls")}


def test_a_broker_that_is_not_in_the_inventory(work: Work) -> None:
    """It says which there are."""
    working = work(call(operation="metadata", brokers=[7]), brokers={1: ("127.0.0.1", 9092)})
    with pytest.raises(UsageError, match="no broker 7 that clients connect to; it has 1"):
        working.end()
    working.forget()


def test_a_topic_that_the_scenario_has_not(work: Work) -> None:
    """The loader refuses it; a spec that somebody made otherwise is refused by the probe."""
    working = work(call(operation="end_offsets", topic="payments"))
    with pytest.raises(UsageError, match="payments is no topic of the scenario"):
        working.end()
    working.forget()


class Ends:
    """A client that knows the ends of partitions, or what librdkafka gives for one that it was not told."""

    def __init__(self, *offsets: int) -> None:
        """By partition."""
        self.offsets = offsets

    def list_offsets(self, wanted: dict[TopicPartition, object], **_options: object) -> dict[TopicPartition, Any]:
        """Every future has a result, and none an error."""
        futures = {place: Future[Any]() for place in wanted}
        for place, future in futures.items():
            future.set_result(SimpleNamespace(offset=self.offsets[place.partition]))
        return futures


@pytest.mark.parametrize("missing", range(3))
def test_an_end_that_was_not_told_is_no_answer(missing: int) -> None:
    """Where one leader of several is silent, the client gives an invalid offset for its partitions, and no error."""
    ask = asking(call(operation="end_offsets", topic="orders"), 3)
    ask(cast("AdminClient", Ends(0, 7, 7)))
    offsets = [OFFSET_INVALID if number == missing else 7 for number in range(3)]
    with pytest.raises(UnansweredError):
        ask(cast("AdminClient", Ends(*offsets)))


def test_one_that_hangs_up_is_asked_again_until_the_time_is_over(work: Work) -> None:
    """A broker that closes every connection does not end the call before its time."""
    with server(closing) as place:
        working = work(
            call(operation="metadata", timeout="400ms"), **{"bootstrap.servers": f"{place.address}:{place.port}"}
        )
        working.until(lambda state: state.fail >= 1)
        working.end()
    (first, *_) = working.rows("calls")
    assert first["completed"] - first["began"] >= 390_000_000


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"operation": "end_offsets"}, "asks about a topic; write topic"),
        ({"operation": "committed_offsets", "topic": "orders"}, "asks about a group; write group"),
        ({"operation": "describe_cluster", "topic": "orders"}, "asks about no topic; leave topic out"),
        ({"operation": "metadata", "group": "readers"}, "asks about no group; leave group out"),
        ({"operation": "metadata", "config": {"bootstrap.servers": "x:1"}}, "it comes from the inventory"),
        ({"operation": "metadata", "config": {"no.such.setting": 1}}, "No such configuration property"),
        ({"operation": "metadata", "every": "10ms"}, "greater than or equal to 0.1"),
        ({"operation": "metadata", "brokers": []}, "at least 1 item"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], words: str) -> None:
    """Before anything runs, with what to write instead."""
    with pytest.raises(ValidationError, match=words):
        call(**fields)
