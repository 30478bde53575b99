"""Topics of others: the state of their partitions, and their minimum number of in-sync replicas."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

from kafka.protocol.admin import DescribeConfigsRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.configs import TOPIC
from chaosk.cluster.owner import own_topics
from chaosk.cluster.views import current, partitions
from chaosk.core.errors import ClusterError
from chaosk.spec.contracts.live import ForeignPartition

MIN_IN_SYNC = "min.insync.replicas"


class Foreign:
    """The topics of others, including Kafka's own, without those that chaosk made earlier. Usable from any thread."""

    def __init__(self, brokers: Brokers, own: Iterable[str]) -> None:
        """``own``: the scenario's topics."""
        self._brokers = brokers
        self._own = frozenset(own)
        self._least: dict[str, int] = {}
        self._ours: dict[str, bool] = {}
        self._last: tuple[ForeignPartition, ...] | None = None
        self._lock = threading.Lock()

    def partitions(self) -> tuple[ForeignPartition, ...]:
        """Return their partitions now, or without an answer the last known ones; raises ClusterError without any."""
        try:
            found = self._ask()
        except ClusterError:
            if self._last is None:
                raise
            return self._last
        self._last = found
        return found

    def is_foreign(self, topic: str) -> bool:
        """Return True if a topic belongs to others, which includes topics created since the last check."""
        return topic not in self._own and not self._ours.get(topic, False)

    def least(self, topic: str) -> int:
        """Return a topic's ``min.insync.replicas``; 1, Kafka's default, if it cannot be read now."""
        if topic not in self._least:
            try:
                self._learn([topic], [one.asked for one in current(self._brokers.views())])
            except ClusterError:
                return 1
        return self._least.get(topic, 1)

    def _ask(self) -> tuple[ForeignPartition, ...]:
        views = self._brokers.views(None)
        inside = current(views)
        ids = {name: identity for one in reversed(inside) for name, identity in one.topic_ids.items()}
        others = {name: identity for name, identity in ids.items() if name not in self._own}
        self._claim(others)
        wanted = sorted(name for name in others if self.is_foreign(name))
        self._learn([name for name in wanted if name not in self._least], [one.asked for one in inside])
        return tuple(
            ForeignPartition(state=one, least=self._least.get(one.topic, 1))
            for one in partitions(views)
            if one.topic in wanted
        )

    def _claim(self, ids: Mapping[str, str]) -> None:
        """Determine which of the new topics chaosk made; each topic is checked once."""
        with self._lock:
            unknown = {name: ids[name] for name in ids if name not in self._ours}
            if unknown:
                made = own_topics(self._brokers, unknown)
                self._ours.update({name: name in made for name in unknown})

    def _learn(self, topics: list[str], brokers: list[int]) -> None:
        """Read the setting of some topics from an answering broker; raises ClusterError if none answers."""
        if not topics or not brokers:
            return
        kind = DescribeConfigsRequest.DescribeConfigsResource
        asked = [kind(resource_type=TOPIC, resource_name=name, configuration_keys=[MIN_IN_SYNC]) for name in topics]
        answer = self._brokers.ask_settings(brokers[0], DescribeConfigsRequest(resources=asked, version=4))
        for one in answer.results:
            values = [each.value for each in one.configs if each.name == MIN_IN_SYNC and each.value]
            if one.error_code == codes.NONE and values:
                self._least[one.resource_name] = int(values[0])
