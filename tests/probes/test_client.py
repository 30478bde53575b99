"""Client settings: what they mean for outcomes, and what librdkafka says of them."""

from __future__ import annotations

import json
import logging
import socket
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError
from sample_documents import SCENARIO, spoil, written

from chaosk.document import DocumentError, load_scenario
from chaosk.probes._client import (
    OF_PRODUCERS,
    RESERVED,
    ErrorReporter,
    ProducerFacts,
    check_consumer,
    check_producer,
    client_logger,
    consumer_settings,
    producer_facts,
    settings,
)
from chaosk.spec.contracts.probe import Workplace


class Rows:
    """An event log that keeps its rows."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []

    def write(self, table: str, row: tuple[Any, ...]) -> None:
        """Keep one row."""
        self.rows.append((table, *row))

    def write_columns(self, *_words: object) -> None:
        """Not used here."""

    def due(self) -> bool:
        """Never."""
        return False

    def flush(self) -> None:
        """Nothing to do."""


def place(log: Rows, **client: Any) -> Workplace:
    """A workplace with these settings from the inventory."""
    return Workplace("run", "writer", 3, client, log, lambda: False, lambda _state: None)


def facts(acks: int, retries: int, max_in_flight: int, *, idempotent: bool) -> ProducerFacts:
    """The settings of a producer that decide what its outcomes mean."""
    return ProducerFacts(acks, idempotent, retries, max_in_flight)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, facts(-1, 2**31 - 1, 1_000_000, idempotent=False)),
        ({"acks": "all"}, facts(-1, 2**31 - 1, 1_000_000, idempotent=False)),
        ({"acks": 1, "retries": 0}, facts(1, 0, 1_000_000, idempotent=False)),
        ({"request.required.acks": "0", "message.send.max.retries": "3"}, facts(0, 3, 1_000_000, idempotent=False)),
        ({"enable.idempotence": True}, facts(-1, 2**31 - 1, 5, idempotent=True)),
        ({"enable.idempotence": "true", "max.in.flight": 2}, facts(-1, 2**31 - 1, 2, idempotent=True)),
        ({"enable.idempotence": False}, facts(-1, 2**31 - 1, 1_000_000, idempotent=False)),
        ({"max.in.flight.requests.per.connection": 1}, facts(-1, 2**31 - 1, 1, idempotent=False)),
    ],
)
def test_what_a_producer_really_does(config: dict[str, Any], expected: ProducerFacts) -> None:
    """Defaults, aliases, spellings and what idempotence implies."""
    assert producer_facts(config) == expected


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"lingr.ms": 5}, 'No such configuration property: "lingr.ms"'),
        ({"linger.ms": "long"}, "Invalid value"),
        ({"message.timeout.ms": 1, "linger.ms": 5}, "`message.timeout.ms` must be greater than `linger.ms`"),
        ({"session.timeout.ms": 6000}, "session.timeout.ms is a consumer property"),
        ({"linger.ms": [1]}, "."),
    ],
)
def test_librdkafka_judges_producers(config: dict[str, Any], said: str) -> None:
    """Its own words, without its prefixes; a property of the other kind of client is no silent nothing."""
    with pytest.raises(ValueError, match=said) as caught:
        check_producer(config)
    assert "Failed to create" not in str(caught.value)


def test_librdkafka_judges_consumers() -> None:
    """The same for consumers."""
    with pytest.raises(ValueError, match="producer property"):
        check_consumer({"group.id": "g", "linger.ms": 5})
    check_consumer({"group.id": "g", "session.timeout.ms": 6000})


def test_checking_says_nothing_on_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    """Validation prints its own messages, none of the client's."""
    check_producer({"acks": "all"})
    check_consumer({"group.id": "g"})
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_every_reserved_setting_has_a_reason() -> None:
    """The message tells what to do instead."""
    assert all(RESERVED.values())


def test_the_scenario_wins_over_the_inventory_and_the_probe_over_both() -> None:
    """Three layers, in that order."""
    log = Rows()
    errors = ErrorReporter(place(log))
    found = settings(place(log, **{"linger.ms": 1, "acks": 1}), {"acks": "all", "client.id": "x"}, errors)
    assert found["linger.ms"] == 1
    assert found["acks"] == "all"
    assert found["client.id"] == "writer"
    assert found["error_cb"] == errors.callback


def test_errors_are_events_and_counted() -> None:
    """Name, message and fatality of each, and the last one for the display."""
    log = Rows()
    errors = ErrorReporter(place(log))
    errors.callback(KafkaError(KafkaError._ALL_BROKERS_DOWN, "all 3 brokers are down"))
    errors.callback(KafkaError(KafkaError._FATAL, "x" * 1000, fatal=True))
    assert (errors.count, errors.last) == (2, "_FATAL")
    first, second = log.rows
    assert first[:3] == ("errors", "writer", 3)
    assert first[4:] == ("_ALL_BROKERS_DOWN", "all 3 brokers are down", False)
    assert second[6] is True
    assert len(second[5]) == 500


def test_the_clients_log_is_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """One object a line, with who, when and how serious, whatever is in the message."""
    client_logger(place(Rows())).log(logging.WARNING, 'FAIL: %s\n"quoted"', "broker")
    line = json.loads(capsys.readouterr().err)
    assert (line["probe"], line["incarnation"], line["level"]) == ("writer", 3, "warning")
    assert line["event"] == 'FAIL: broker\n"quoted"'
    assert line["monotonic"] > 0


PROBES = {
    "produce": ("config: {acks: all}", "config: {acks: all, @}"),
    "consume": ("commit: sync}", "commit: sync, config: {@}}"),
}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("metadata.broker.list", "comes from the inventory"),
        ("ssl.engine.location", "loads no code"),
        ("ssl.providers", "loads no code"),
        ("ssl.ca.location", "inventory's `client:`"),
        ("sasl.kerberos.kinit.cmd", "runs no command"),
        ("sasl.oauthbearer.token.endpoint.url", "inventory's `client:`"),
        ("default.topic.config", "beside the others"),
        ("test.mock.broker.rtt", "proves nothing"),
    ],
)
@pytest.mark.parametrize("probe", ["produce", "consume"])
def test_a_scenario_reads_connects_and_runs_nothing(tmp_path: Path, probe: str, name: str, why: str) -> None:
    """Settings that would, while a file is only being read, are refused before librdkafka sees them."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0.3)
        there = f"127.0.0.1:{listener.getsockname()[1]}"
        old, new = PROBES[probe]
        document = spoil(SCENARIO, old, new.replace("@", f'{name}: "{there}"'))
        with pytest.raises(DocumentError, match="belongs to the probe") as caught:
            load_scenario(written(tmp_path, document))
        assert why in str(caught.value)
        with pytest.raises(TimeoutError):
            listener.accept()


VALUES = {
    "acks": "all", "request.required.acks": "all", "compression.codec": "none", "compression.type": "none",
    "enable.gapless.guarantee": False, "enable.idempotence": False, "partitioner": "random",
    "transaction.timeout.ms": 5_000,
}  # fmt: skip
"""Of settings for which 5 is no value."""


@pytest.mark.parametrize("name", sorted(OF_PRODUCERS))
def test_a_consumer_would_ignore_what_is_for_producers(name: str) -> None:
    """As librdkafka says of each: what an inventory has for all clients does not reach consumers."""
    with pytest.raises(ValueError, match=r"is a producer property and will be ignored"):
        check_consumer({"group.id": "x", name: VALUES.get(name, 5)})
    check_producer({name: VALUES.get(name, 5)})


def test_consumers_get_what_is_for_them() -> None:
    """How to connect, what the inventory has for consumers, and all that the scenario says."""
    here = place(Rows(), **{"bootstrap.servers": "b:1", "linger.ms": 50, "fetch.wait.max.ms": 10})
    errors = ErrorReporter(here)
    producer, consumer = settings(here, {}, errors), consumer_settings(here, {"fetch.min.bytes": 2}, errors)
    assert producer["linger.ms"] == 50
    assert {"bootstrap.servers", "fetch.wait.max.ms", "fetch.min.bytes", "client.id"} <= consumer.keys()
    assert "linger.ms" not in consumer
