"""A client's connections as events: what follows from two samples, and what real clients did."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from probes.conftest import Working

from chaosk.probes._connections import ConnectionRecorder, Handle, changes, handles
from chaosk.probes.consume import Consume
from chaosk.probes.produce import Produce
from chaosk.probes.transform import Transform
from chaosk.rundir.events import TABLES
from chaosk.spec.contracts.probe import Workplace

Work = Callable[..., Working]
SECOND = 1_000_000_000


def handle(state: str, connects: int = 0, disconnects: int = 0, **values: Any) -> Handle:
    """What a sample says of broker 1, entered at 5 s."""
    usual: dict[str, Any] = {"role": "data", "broker": 1, "address": "b1:9092", "entered": 5 * SECOND, "active": None}
    return Handle(**(usual | values), state=state, connects=connects, disconnects=disconnects)


def between(before: Handle | None, after: Handle, limit: int | None = None) -> list[tuple[str, int, int | None, bool]]:
    """Event, count, time and idleness of what happened."""
    return [(each.event, each.count, each.at, each.idle) for each in changes(before, after, limit)]


@pytest.mark.parametrize(
    ("before", "after", "events"),
    [
        (None, handle("INIT"), []),
        (None, handle("UP", 1), [("opened", 1, 5 * SECOND, False)]),
        (handle("UP", 1), handle("UP", 1), []),
        (handle("APIVERSION_QUERY", 1), handle("UP", 1), []),
        (handle("INIT"), handle("CONNECT", 1), []),
        (handle("CONNECT", 1), handle("UP", 1), [("opened", 1, 5 * SECOND, False)]),
        (handle("CONNECT", 1), handle("DOWN", 1), [("failed", 1, None, False)]),
        (handle("UP", 1), handle("DOWN", 1, 1), [("closed", 1, 5 * SECOND, False)]),
        (handle("UP", 3, 2), handle("INIT"), [("closed", 1, None, False)]),
        (handle("UP", 1), handle("DOWN", 1), [("closed", 1, 5 * SECOND, False)]),
        (handle("UP", 3, 2), handle("UP", 1), [("closed", 1, None, False), ("opened", 1, 5 * SECOND, False)]),
        (handle("UP", 1), handle("DOWN", 4, 1), [("closed", 1, None, False), ("failed", 3, None, False)]),
        (handle("UP", 1), handle("UP", 2, 1), [("closed", 1, None, False), ("opened", 1, 5 * SECOND, False)]),
        (handle("INIT"), handle("INIT", 1, 1), [("closed", 1, None, False), ("opened", 1, None, False)]),
        (
            handle("UP", 1), handle("CONNECT", 6, 2),
            [("closed", 2, None, False), ("failed", 3, None, False), ("opened", 1, None, False)],
        ),
    ],
)  # fmt: skip
def test_two_samples_tell_what_happened_between_them(
    before: Handle | None, after: Handle, events: list[tuple[str, int, int | None, bool]]
) -> None:
    """Counts are right whatever was missed between the samples; a time is given only where it is known."""
    assert between(before, after) == events


@pytest.mark.parametrize(("active", "idle"), [(3 * SECOND, True), (4 * SECOND, False), (None, False)])
def test_what_the_idle_limit_closed(active: int | None, idle: bool) -> None:  # noqa: FBT001 - a parameter of pytest's
    """Closed at 5 s, 2 s after its last byte, where the limit is 2 s; sooner, something else closed it."""
    before, after = handle("UP", 1, active=active), handle("INIT", 1, 1)
    assert between(before, after, 2 * SECOND) == [("closed", 1, 5 * SECOND, idle)]
    assert between(before, after, None) == [("closed", 1, 5 * SECOND, False)]


def test_one_that_is_idle_and_needed_again_was_closed_all_the_same() -> None:
    """A heartbeat opens it anew in the same moment; one that was in use until then was closed by something else."""
    after = handle("UP", 2, 1)
    closed = [each for limit in (2, 3) for each in between(handle("UP", 1, active=3 * SECOND), after, limit * SECOND)]
    assert [each[3] for each in closed if each[0] == "closed"] == [True, False]


def test_a_coordinator_that_is_not_found_yet_is_no_attempt() -> None:
    """Librdkafka counts attempts without an address, which are none."""
    assert between(handle("INIT", address=None), handle("TRY_CONNECT", 3, address=None)) == []
    found = handle("UP", 3, role="group_coordinator")
    assert between(handle("INIT", address=None), found) == between(None, found) == [("opened", 1, 5 * SECOND, False)]
    assert between(handle("INIT"), handle("TRY_CONNECT", 3, address=None)) == [("failed", 3, None, False)]


def broker(name: str, nodeid: int, source: str, state: str = "UP", **values: int) -> dict[str, Any]:
    """A broker as the statistics tell of it."""
    numbers = {"stateage": 1_000_000, "connects": 1, "disconnects": 0, "rxidle": 500_000, "txidle": 600_000}
    host = name.partition("/")[0]
    told = {"name": name, "nodeid": nodeid, "nodename": host, "source": source, "state": state}
    return {**told, **numbers, **values}


def sample(at: int, *brokers: dict[str, Any]) -> str:
    """The statistics of a moment in seconds."""
    return json.dumps({"ts": at * 1_000_000, "brokers": {each["name"]: each for each in brokers}})


def test_coordinators_are_told_from_brokers_and_have_their_ids() -> None:
    """A coordinator has a handle of its own, whose broker follows from its address."""
    coordinator = broker("GroupCoordinator", -1, "logical", nodename="b2:9092")  # type: ignore[arg-type] # a text
    unknown = broker("TxnCoordinator", -1, "logical", nodename=":0", state="INIT")  # type: ignore[arg-type] # a text
    told = sample(
        10, broker("b2:9092/2", 2, "learned"), coordinator, broker("x:1/bootstrap", -1, "configured"), unknown
    )
    found = handles(json.loads(told))
    assert {(each.role, each.broker, each.address) for each in found.values()} == {
        ("data", 2, "b2:9092"),
        ("group_coordinator", 2, "b2:9092"),
        ("bootstrap", None, "x:1"),
        ("transaction_coordinator", None, None),
    }
    assert {each.active for each in found.values()} == {9_500_000_000}


class Rows:
    """An event log in memory."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def write(self, table: str, row: tuple[Any, ...]) -> None:
        """Keep one row by column."""
        self.rows.append(dict(zip((column.name for column in TABLES[table].columns), row, strict=True)))


def heard(*samples: str) -> list[tuple[str, int | None, str | None, str, int]]:
    """Role, broker, address, event and count of each row that these samples lead to."""
    log = Rows()
    place = Workplace("run", "reader", 0, {}, log, lambda: False, lambda _state: None)  # type: ignore[arg-type] # it writes
    connections = ConnectionRecorder(place, "consumer", {})
    for each in samples:
        connections.heard(each)
    connections.gone()
    return [(row["role"], row["broker"], row["address"], row["event"], row["count"]) for row in log.rows]


def test_an_address_becomes_a_broker_and_keeps_its_connection() -> None:
    """Librdkafka takes the connection it bootstraps by over for the broker: it is opened once, and not closed."""
    assert heard(
        sample(1, broker("b1:9092/bootstrap", -1, "configured")),
        sample(2, broker("b1:9092/1", 1, "learned")),
    ) == [("bootstrap", None, "b1:9092", "opened", 1), ("bootstrap", 1, "b1:9092", "closed", 1)]


def test_a_coordinator_that_moves_is_closed_where_it_was() -> None:
    """And opened where it is now."""
    first = broker("GroupCoordinator", -1, "logical", nodename="b1:9092")  # type: ignore[arg-type] # a text
    second = {**first, "nodename": "b2:9092", "connects": 2, "disconnects": 1}
    both = (
        broker("b1:9092/1", 1, "learned", stateage=2_000_000),
        broker("b2:9092/2", 2, "learned", "INIT", connects=0),
    )
    assert heard(sample(1, *both, first), sample(2, *both, second))[2:4] == [
        ("group_coordinator", 1, "b1:9092", "closed", 1),
        ("group_coordinator", 2, "b2:9092", "opened", 1),
    ]


def test_a_broker_that_vanishes_from_the_statistics_is_closed() -> None:
    """A decommissioned one is told of no more; then the client itself is gone, and the rest with it."""
    one, two = broker("b1:9092/1", 1, "learned", stateage=2_000_000), broker("b2:9092/2", 2, "learned")
    assert heard(sample(1, one, two), sample(2, one)) == [
        ("bootstrap", 1, "b1:9092", "opened", 1),
        ("data", 2, "b2:9092", "opened", 1),
        ("data", 2, "b2:9092", "closed", 1),
        ("bootstrap", 1, "b1:9092", "closed", 1),
    ]


def left(rows: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """By client and role how many connections are open at the end."""
    count: Counter[tuple[str, str]] = Counter()
    for row in rows:
        count[row["client"], row["role"]] += {"opened": 1, "closed": -1, "failed": 0}[row["event"]] * row["count"]
    return +count


def test_a_consumer_has_one_for_bootstrap_one_to_its_coordinator_and_data(work: Work, mock_cluster: str) -> None:
    """Against librdkafka's own brokers: by which it learned of them, the group's, and the others it fetches from.

    Who leads which partition is a matter of chance there, and may be one broker for all of them.
    """
    writer = work(Produce.model_validate({"topic": "connected", "rate": "50/s"}), "writer")
    writer.until(lambda state: state.ok > 20)
    fields = {"topic": "connected", "group": "connecting", "connections": True}
    reader = work(Consume.model_validate(fields), "reader")
    reader.until(lambda state: state.ok > 20)
    topic = AdminClient({"bootstrap.servers": mock_cluster}).list_topics("connected", timeout=10).topics["connected"]
    leaders = {partition.leader for partition in topic.partitions.values()}

    def expected() -> Counter[tuple[str, str]]:
        told = {row["broker"] for row in reader.rows("connections") if row["role"] == "bootstrap"}
        others = Counter({("consumer", "data"): len(leaders - told)})
        return Counter({("consumer", "bootstrap"): 1, ("consumer", "group_coordinator"): 1}) + others

    reader.wait(lambda: left(reader.rows("connections")) == expected())
    reader.end()
    writer.end()
    rows = reader.rows("connections")
    assert all(row["since"] < row["seen"] for row in rows)
    assert all(row["at"] is None or row["at"] <= row["seen"] for row in rows)
    assert {row["broker"] for row in rows if row["role"] == "data"} <= leaders
    assert writer.rows("connections") == [], "nobody asked for it"


def test_a_pipeline_has_two_clients(work: Work) -> None:
    """What its consumer and its producer hold is told apart, the coordinator of its transactions too."""
    probe = Transform.model_validate({"topic": "in-c", "to": "out-c", "group": "pipe-c", "connections": True})
    writer = work(Produce.model_validate({"topic": "in-c", "rate": "50/s"}), "writer")
    pipe = work(probe, "pipe")
    pipe.until(lambda state: state.ok > 20)
    pipe.wait(lambda: {client for client, _role in left(pipe.rows("connections"))} == {"consumer", "producer"})
    pipe.wait(lambda: left(pipe.rows("connections"))["producer", "transaction_coordinator"] == 1)
    pipe.end()
    writer.end()


def test_idle_connections_are_closed_and_said_to_be(work: Work) -> None:
    """A member sends its coordinator a heartbeat every three seconds: half of that is too idle for this client."""
    fields = {"topic": "idle-c", "group": "idlers", "connections": True, "config": {"connections.max.idle.ms": 1500}}
    working = work(Consume.model_validate(fields), "idler")
    working.wait(lambda: any(row["idle"] for row in working.rows("connections")), within=60)
    working.end()
    idle = [row for row in working.rows("connections") if row["idle"]]
    assert {row["event"] for row in idle} == {"closed"}


def test_attempts_that_fail_are_counted() -> None:
    """Against a port where nobody listens: attempts, and no connection."""
    log = Rows()
    place = Workplace("run", "lost", 0, {}, log, lambda: False, lambda _state: None)  # type: ignore[arg-type] # it writes
    connections = ConnectionRecorder(place, "producer", {})
    enough = threading.Event()
    stays = {"metadata.recovery.strategy": "none", "log_level": 0}  # else each attempt is by a new handle
    client = Producer({"bootstrap.servers": "127.0.0.1:1", **stays, **connections.settings()})
    client.produce("any", b"or it would not even try")
    for _ in range(200):
        with suppress(KeyError):
            client.poll(0.1)
        if sum(row["count"] for row in log.rows) >= 3:
            enough.set()
            break
    assert enough.is_set()
    assert {(row["event"], row["role"], row["address"]) for row in log.rows} == {("failed", "bootstrap", "127.0.0.1:1")}
