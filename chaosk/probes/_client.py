"""librdkafka's settings of a probe's clients, checked without a network, and their logs on stderr."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from chaosk.spec.contracts.probe import Workplace

RESERVED = {
    "bootstrap.servers": "it comes from the inventory",
    "client.id": "it is the probe's name",
    "on_delivery": "it records every outcome",
    "error_cb": "it records every error",
    "logger": "it writes the client's log",
    "dr_cb": "it records every outcome",
    "dr_msg_cb": "it records every outcome",
    "on_commit": "it records every commit",
    "enabled_events": "the probe serves callbacks by polling",
    "delivery.report.only.error": "every outcome is an event",
    "metadata.broker.list": "it comes from the inventory",
    "default.topic.config": "write its settings beside the others",
    "plugin.library.paths": "a scenario loads no code",
    "ssl.": "how clients connect is a matter of the inventory's `client:`, and a scenario loads no code",
    "https.": "how clients connect is a matter of the inventory's `client:`",
    "sasl.kerberos.kinit.cmd": "a scenario runs no command on this machine",
    "sasl.oauthbearer.": "who logs in is a matter of the inventory's `client:`",
    "test.mock.": "a mock cluster proves nothing",
    "internal.termination.signal": "librdkafka sends it to this very process",
}
"""Client settings that a scenario may not set, with the reason; a name that ends with a dot is a prefix.

Settings are checked by creating a client (:func:`check_producer`), so none of them may connect, load or run anything.
"""

OF_PRODUCERS = {
    "acks", "batch.num.messages", "batch.size", "compression.codec", "compression.level", "compression.type",
    "delivery.timeout.ms", "enable.gapless.guarantee", "enable.idempotence", "linger.ms", "message.send.max.retries",
    "message.timeout.ms", "partitioner", "queue.buffering.backpressure.threshold", "queue.buffering.max.kbytes",
    "queue.buffering.max.messages", "queue.buffering.max.ms", "request.required.acks", "request.timeout.ms", "retries",
    "sticky.partitioning.linger.ms", "transaction.timeout.ms",
}  # fmt: skip
"""Settings that consumers ignore, with a warning in their logs."""

_ALIASES = {
    "request.required.acks": "acks",
    "message.send.max.retries": "retries",
    "max.in.flight.requests.per.connection": "max.in.flight",
}


@dataclass(frozen=True, slots=True)
class ProducerFacts:
    """The settings of a producer that determine the meaning of its outcomes."""

    acks: int
    idempotent: bool
    retries: int
    max_in_flight: int


def producer_facts(config: Mapping[str, Any]) -> ProducerFacts:
    """Return the effective settings, with librdkafka's defaults and its adjustments for idempotence."""
    given = {_ALIASES.get(name, name): value for name, value in config.items()}
    idempotent = "transactional.id" in given or _true(given.get("enable.idempotence", False))
    acks = given.get("acks", -1)
    return ProducerFacts(
        acks=-1 if str(acks).lower() == "all" else int(acks),
        idempotent=idempotent,
        retries=int(given.get("retries", 2**31 - 1)),
        max_in_flight=int(given.get("max.in.flight", 5 if idempotent else 1_000_000)),
    )


def _true(value: object) -> bool:
    return str(value).lower() in {"true", "t", "1"}


def check_producer(config: Mapping[str, Any]) -> None:
    """Let librdkafka check a producer's settings, without a network; raises ValueError with its message."""
    _check(Producer, config)


def check_consumer(config: Mapping[str, Any]) -> None:
    """Check a consumer's settings in the same way; ``group.id`` must be among them."""
    _check(Consumer, config)


def is_known(name: str) -> bool:
    """Return True if librdkafka has that setting; tried without a value, so that nothing is read, loaded or run."""
    try:
        _made(Producer, {name: ""})
    except ValueError as error:
        return "No such configuration property" not in str(error)
    return True


def refused(config: Mapping[str, Any]) -> str | None:
    """Return librdkafka's complaint about settings common to all clients, without a network; None without one."""
    try:
        _made(Producer, config)
    except ValueError as error:
        return str(error)
    return None


def _check(kind: type[Producer | Consumer], config: Mapping[str, Any]) -> None:
    for line in _made(kind, config):
        if "will be ignored" in line:
            raise ValueError(line.partition("Configuration property ")[2] or line)


def _made(kind: type[Producer | Consumer], config: Mapping[str, Any]) -> list[str]:
    """Create a client and close it; return its logged warnings. Raises ValueError for refused settings."""
    heard: list[str] = []
    logger = logging.Logger("check")  # noqa: LOG001 - a separate logger outside of the tree
    logger.addHandler(_Ear(heard))
    try:
        client = kind({**config, "logger": logger, "log_level": 4})
        client.poll(0)
    except KafkaException as error:
        raise ValueError(_said(error)) from error
    except (TypeError, ValueError) as error:
        msg = f"librdkafka does not take these settings: {error}"
        raise ValueError(msg) from error
    if isinstance(client, Consumer):
        client.close()
    return heard


def _said(error: KafkaException) -> str:
    text = str(error.args[0].str()).strip()
    return text.removeprefix("Failed to create producer: ").removeprefix("Failed to create consumer: ")


class _Ear(logging.Handler):
    def __init__(self, heard: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        self._heard.append(record.getMessage())


class ErrorReporter:
    """Errors that a client reports outside of any call, as events and for the live display."""

    def __init__(self, place: Workplace) -> None:
        """``callback`` is for the client's ``error_cb``."""
        self._place = place
        self.count = 0
        self.last: str | None = None

    def noted(self, name: str) -> None:
        """Count an error of a call."""
        self.count += 1
        self.last = name

    def final(self, error: KafkaError) -> None:
        """Write the error that makes the client unusable."""
        self.last = reason(error)
        who = (self._place.probe, self._place.incarnation)
        self._place.log.write("errors", (*who, time.monotonic_ns(), self.last, error.str()[:500], True))

    def callback(self, error: KafkaError) -> None:
        """Write one error."""
        self.noted(error.name())
        who = (self._place.probe, self._place.incarnation)
        self._place.log.write("errors", (*who, time.monotonic_ns(), error.name(), error.str()[:500], error.fatal()))


def reason(error: KafkaError) -> str:
    """Return the name of the cause of a fatal error, which librdkafka only gives in words; else its own name."""
    known = {KafkaError(getattr(KafkaError, name)).str(): name for name in dir(KafkaError) if name.isupper()}
    said = [text for text in known if text in error.str()]
    return known[max(said, key=len)] if said else str(error.name())


def settings(place: Workplace, config: Mapping[str, Any], errors: ErrorReporter) -> dict[str, Any]:
    """Return a client's settings: the inventory's, overridden by the scenario's and by the probe's own."""
    own = {"client.id": place.probe, "error_cb": errors.callback, "logger": client_logger(place)}
    return {**place.client, **config, **own}


def consumer_settings(place: Workplace, config: Mapping[str, Any], errors: ErrorReporter) -> dict[str, Any]:
    """Return a consumer's settings: the inventory's producer settings are left out, since they cause warnings."""
    client = {name: value for name, value in place.client.items() if name not in OF_PRODUCERS}
    return settings(replace(place, client=client), config, errors)


def closed(client: Consumer, within: float) -> bool:
    """Close a consumer, and return True if that ended within so many seconds.

    Closing waits for a coordinator, and one that is cut off never answers. It therefore runs in a thread with a
    time-out.
    """
    closing = threading.Thread(target=client.close, daemon=True)
    closing.start()
    closing.join(within)
    return not closing.is_alive()


def client_logger(place: Workplace) -> logging.Logger:
    """Return a logger for librdkafka that writes one JSON object per line to stderr."""
    logger = logging.Logger(place.probe)  # noqa: LOG001 - passed to librdkafka, not looked up by name
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines(place.probe, place.incarnation))
    logger.addHandler(handler)
    return logger


class _JsonLines(logging.Formatter):
    def __init__(self, probe: str, incarnation: int) -> None:
        super().__init__()
        self._who = {"probe": probe, "incarnation": incarnation}

    def format(self, record: logging.LogRecord) -> str:
        said = {"level": record.levelname.lower(), "event": record.getMessage()}
        return json.dumps({"monotonic": time.monotonic_ns(), "at": record.created, **self._who, **said})
