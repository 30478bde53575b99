"""The live facts of a real cluster, also while some of its brokers are dead, frozen or cut off.

Every question goes to all brokers at once. Nobody waits for a broker that hangs once most have answered.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from time import monotonic
from types import TracebackType
from typing import Any, Self

from kafka.protocol.api_message import ApiMessage
from kafka.protocol.metadata import FindCoordinatorRequest

from chaosk.cluster.live import ProbeState
from chaosk.cluster.places import broker_places, zookeeper_places
from chaosk.cluster.views import PartitionView, View, current, metadata_request, partitions, view
from chaosk.cluster.wire import TIMEOUT, Link, NoAnswer
from chaosk.cluster.zookeeper import ask_mode
from chaosk.errors import ClusterError
from chaosk.inventory import Inventory

GRACE = 0.3
"""Seconds that the rest is waited for once most brokers have answered."""

_GROUP = 0  # FindCoordinator: of a consumer group


class ClusterLive:
    """Answers for targets and conditions (``chaosk.cluster.live.Live``); usable from any thread."""

    def __init__(
        self,
        inventory: Inventory,
        settings: Mapping[str, Any],
        probe: Callable[[str], ProbeState],
        timeout: float = TIMEOUT,
    ) -> None:
        """``settings``: librdkafka settings with secrets resolved; ``probe``: what a probe said last."""
        self._brokers = broker_places(inventory, settings)
        self._zookeepers = zookeeper_places(inventory)
        self._probe = probe
        self._timeout = timeout
        self._idle: dict[int, list[Link]] = {broker: [] for broker in self._brokers}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(4 * (len(self._brokers) + len(self._zookeepers)), "live")

    def views(self, topics: Sequence[str] | None = ()) -> tuple[View, ...]:
        """What each broker that answers says of the cluster and of some topics (None: all); raises if none does."""
        answers = self._ask_all(lambda: metadata_request(topics))
        return tuple(view(broker, answer) for broker, answer in answers.items())

    def partitions(self, topic: str) -> tuple[PartitionView, ...]:
        """Every partition of a topic."""
        found = partitions(self.views([topic]))
        if not found:
            raise ClusterError(f"topic {topic}: the cluster has no such topic")
        return found

    def controller(self) -> int | None:
        """Broker id of the controller; None if there is none."""
        return current(self.views())[0].controller

    def coordinator(self, group: str) -> int | None:
        """Broker id of a consumer group's coordinator; None if there is none at the moment."""
        inside = [one.asked for one in current(self.views(["__consumer_offsets"]))]
        answers = self._ask_all(lambda: FindCoordinatorRequest(key=group, key_type=_GROUP, max_version=2), inside)
        named = [answer.node_id for answer in answers.values() if answer.error_code == 0 and answer.node_id >= 0]
        return max(named, key=named.count, default=None)

    def brokers(self) -> tuple[int, ...]:
        """Ids of the brokers that the cluster holds to be alive."""
        said = [one.alive for one in current(self.views())]
        return max(said, key=said.count)

    def broker_answers(self, broker: int) -> bool:
        """Whether that broker itself answers a request."""
        if broker not in self._brokers:
            raise ClusterError(f"broker {broker}: the inventory has no such broker")
        try:
            self._ask(broker, metadata_request(()))
        except NoAnswer:
            return False
        return True

    def zookeeper_modes(self) -> dict[int, str | None]:
        """By ZooKeeper id its mode, or None where it does not serve."""
        asked = {node: self._pool.submit(ask_mode, place, self._timeout) for node, place in self._zookeepers.items()}
        return {node: None if future.exception() else future.result() for node, future in asked.items()}

    def probe(self, name: str) -> ProbeState:
        """What the probe said last."""
        return self._probe(name)

    def close(self) -> None:
        """End every connection."""
        self._pool.shutdown()
        with self._lock:
            for links in self._idle.values():
                while links:
                    links.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _ask_all(self, request: Callable[[], ApiMessage], brokers: Sequence[int] | None = None) -> dict[int, Any]:
        """By broker the answers of those that answer in time; raises ClusterError if there are none."""
        asked = self._brokers if brokers is None else brokers
        futures = {self._pool.submit(self._ask, broker, request()): broker for broker in asked}
        settled = _settled(set(futures), most=len(futures) // 2 + 1, within=2 * self._timeout)
        answers = {futures[one]: one.result() for one in settled if one.exception() is None}
        if not answers:
            reasons = "; ".join(sorted(str(one.exception()) for one in settled)) or "all of them hang"
            raise ClusterError(f"no broker answers: {reasons}")
        return dict(sorted(answers.items()))

    def _ask(self, broker: int, request: ApiMessage) -> Any:  # noqa: ANN401 - kafka-python's answers
        with self._lock:
            links = self._idle[broker]
            link = links.pop() if links else Link(self._brokers[broker], self._timeout)
        (answer,) = _ask_again(link, request)
        with self._lock:
            self._idle[broker].append(link)
        return answer


def _ask_again(link: Link, request: ApiMessage) -> list[Any]:
    """Ask; where the broker had closed a connection that was idle, or was restarted, once more on a new one."""
    if not link.connected:
        return link.ask(request)
    try:
        return link.ask(request)
    except NoAnswer as error:
        if isinstance(error.__cause__, TimeoutError):
            raise
        return link.ask(request)


def _settled(futures: set[Future[Any]], most: int, within: float) -> set[Future[Any]]:
    """The futures that are over: all of them, or after ``GRACE`` those there are once ``most`` brought an answer."""
    end = monotonic() + within
    done: set[Future[Any]] = set()
    while futures and (left := end - monotonic()) > 0:
        more, futures = wait(futures, left, FIRST_COMPLETED)
        done |= more
        if sum(one.exception() is None for one in done) >= most:
            end = min(end, monotonic() + GRACE)
            most = len(done) + len(futures) + 1  # the grace begins once
    return done
