"""Preparations before a producer's schedule starts: a known topic, and a cluster ready to assign producer ids.

A cluster that has never seen an idempotent producer first creates the topic for producer ids ("coordinator load in
progress", about a second), which must not fall into the baseline. The wait is bounded: a probe has to reveal a cluster
that is not ready.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer

from chaosk.probes import _client
from chaosk.spec.contracts.probe import Workplace

LONGEST = 10.0
"""Seconds after which the schedule starts in any case."""


def producer(client: Producer, place: Workplace, topic: str, config: Mapping[str, Any]) -> None:
    """Wait until every partition of the topic has a leader and, for an idempotent producer, ids are assigned."""
    deadline = leaders(client, place, topic)
    if _client.producer_facts({**place.client, **config}).idempotent:
        _await_producer_id(place, config, deadline)


def leaders(client: Producer, place: Workplace, topic: str) -> float:
    """Wait until every partition of the topic has a leader; return the end of the time for warming up."""
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline and not place.stopping() and not _has_leaders(client, topic):
        time.sleep(0.1)
    return deadline


def _has_leaders(client: Producer, topic: str) -> bool:
    try:
        found = client.list_topics(topic, timeout=1).topics[topic]
    except KafkaException:
        return False
    leaders = [partition.leader for partition in found.partitions.values()]
    return found.error is None and bool(leaders) and min(leaders) >= 0


def _await_producer_id(place: Workplace, config: Mapping[str, Any], deadline: float) -> None:
    """Wait with a second client, because only frequent statistics show that a client has its id."""
    states: list[str] = []

    def heard(statistics: str) -> None:
        states.append(json.loads(statistics).get("eos", {}).get("idemp_state", ""))

    settings = {**place.client, **config, "statistics.interval.ms": 50, "stats_cb": heard, "log_level": 2}
    client = Producer({**settings, "client.id": f"{place.probe}-warm-up"})
    while time.monotonic() < deadline and not place.stopping() and states[-1:] != ["Assigned"]:
        client.poll(0.05)
