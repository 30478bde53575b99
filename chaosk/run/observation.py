"""A detailed state of the cluster for the report; unknown parts are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.snapshot import LogRange, Snapshot, take
from chaosk.core.errors import ClusterError
from chaosk.run.audit.ranges import ranges
from chaosk.spec.contracts.live import Live
from chaosk.spec.entity import Entity
from chaosk.spec.scenario import Scenario

T = TypeVar("T")


def observe(brokers: Brokers, live: Live, scenario: Scenario) -> Snapshot:
    """Return the state, with logs, coordinators and settings of topics; raises ClusterError if no broker answers."""
    names = sorted(scenario.topics)
    settings = _told(names, lambda topic: live.settings(Entity(kind="topic", name=topic)))
    return take(brokers, live, names).model_copy(
        update={
            "logs": tuple(_logs(brokers, names)),
            "coordinators": dict(_told(scenario.groups, live.coordinator)),
            "transaction_coordinators": dict(_told(scenario.transactional_ids, live.transaction_coordinator)),
            "settings": dict(settings),
        }
    )


def _told(names: Iterable[str], ask: Callable[[str], T]) -> Iterator[tuple[str, T]]:
    """Yield the answer for each name; names without an answer are left out."""
    for name in names:
        try:
            answer = ask(name)
        except ClusterError:
            continue
        yield name, answer


def _logs(brokers: Brokers, topics: Iterable[str]) -> Iterator[LogRange]:
    try:
        found = ranges(brokers, topics, settle=0)
    except ClusterError:
        return
    for one in found:
        if one.high_watermark or one.why is None:
            yield LogRange(topic=one.topic, partition=one.partition, begins=one.log_start, ends=one.high_watermark)
