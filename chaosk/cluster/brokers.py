"""Parallel requests to the brokers of a cluster, each one separately, also while some are dead, paused or cut off."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, Self

from kafka.protocol.admin import DescribeConfigsRequest
from kafka.protocol.api_message import ApiMessage

from chaosk.cluster.endpoints import broker_places
from chaosk.cluster.quorum import Quorum, quorum, quorum_request
from chaosk.cluster.views import ClusterView, PartitionView, current, metadata_request, partitions, view
from chaosk.cluster.wire import TIMEOUT, BrokerConnection, NoAnswer
from chaosk.core.errors import ClusterError
from chaosk.spec.contracts.live import UnknownTopic
from chaosk.spec.inventory import Inventory

GRACE = 0.3
"""Seconds of waiting for the rest once most brokers have answered."""


class Brokers:
    """Connections to every broker of an inventory, opened on demand; usable from any thread."""

    def __init__(
        self,
        inventory: Inventory,
        settings: Mapping[str, Any],
        timeout: float = TIMEOUT,
        find: Callable[[str], str] = str,
    ) -> None:
        """``settings``: librdkafka settings with secrets resolved; ``timeout``: seconds for one answer.

        ``find``: resolves a name or an address, for every connection.
        """
        self._places = broker_places(inventory, settings)
        self._kraft = inventory.kraft
        self._timeout = timeout
        self._find = find
        self._idle: dict[int, list[BrokerConnection]] = {broker: [] for broker in self._places}
        self._patient = {
            broker: (threading.Lock(), BrokerConnection(place, timeout, find, patient=True))
            for broker, place in self._places.items()
        }
        self._lock = threading.Lock()
        self._closed = False
        self._pool = ThreadPoolExecutor(4 * len(self._places), "broker")

    def ask(self, broker: int, request: ApiMessage, within: float | None = None) -> Any:  # noqa: ANN401 - kafka-python
        """Return one broker's answer; raises NoAnswer, or ClusterError for a broker that is not in the inventory."""
        if broker not in self._places:
            raise ClusterError(f"broker {broker}: the inventory has no such broker")
        with self._lock:
            links = self._idle[broker]
            link = links.pop() if links else BrokerConnection(self._places[broker], self._timeout, self._find)
        answer = _ask(link, request, within)
        with self._lock:
            if self._closed:
                link.close()
            else:
                self._idle[broker].append(link)
        return answer

    def ask_settings(self, broker: int, request: DescribeConfigsRequest) -> Any:  # noqa: ANN401 - kafka-python
        """Return one broker's answer about settings; raises as :meth:`ask`.

        Nothing is sent while the broker has not answered an earlier one: see :class:`BrokerConnection`.
        """
        if broker not in self._places:
            raise ClusterError(f"broker {broker}: the inventory has no such broker")
        lock, link = self._patient[broker]
        with lock:
            return _ask(link, request, None)

    def ask_all(self, request: Callable[[], ApiMessage], brokers: Sequence[int] | None = None) -> dict[int, Any]:
        """Return the answers of all brokers that answer in time, by id; raises ClusterError without any answer.

        ``brokers``: those to ask, by default all. Once most have answered, the rest get only ``GRACE``.
        """
        asked = tuple(self._places) if brokers is None else tuple(brokers)
        futures = {self._pool.submit(self.ask, broker, request()): broker for broker in asked}
        settled = _settled(set(futures), most=len(futures) // 2 + 1, within=2 * self._timeout)
        answers = {futures[one]: one.result() for one in settled if one.exception() is None}
        if not answers:
            reasons = "; ".join(sorted(str(one.exception()) for one in settled)) or "all of them hang"
            raise ClusterError(f"no broker answers: {reasons}")
        return dict(sorted(answers.items()))

    def views(self, topics: Sequence[str] | None = ()) -> tuple[ClusterView, ...]:
        """Return each answering broker's view of the cluster and of some topics (None: all); raises if none answers."""
        answers = self.ask_all(lambda: metadata_request(topics))
        return tuple(view(broker, answer, kraft=self._kraft) for broker, answer in answers.items())

    def partitions(self, topic: str) -> tuple[PartitionView, ...]:
        """Return every partition of a topic; raises UnknownTopic if the cluster has no such topic."""
        found = partitions(self.views([topic]))
        if not found:
            raise UnknownTopic(f"topic {topic}: the cluster has no such topic")
        return found

    def controller(self) -> int | None:
        """Return the broker for controller requests, in KRaft any broker that reaches the controller; None if none."""
        if not self._kraft:
            return current(self.views())[0].controller
        said = self._quorums()
        return max(said, key=lambda broker: said[broker].epoch, default=None)

    def quorum(self) -> Quorum | None:
        """Return the quorum as its leader describes it; None if no broker reaches a leader. KRaft only."""
        return max(self._quorums().values(), key=lambda one: one.epoch, default=None)

    def _quorums(self) -> dict[int, Quorum]:
        """Return each broker's answer about the quorum; a leader that was cut off has an older epoch than the new."""
        try:
            answers = self.ask_all(quorum_request)
        except ClusterError:
            self.views()  # raises the error if no broker answers at all
            return {}
        return {broker: found for broker, answer in answers.items() if (found := quorum(answer)) is not None}

    def close(self) -> None:
        """Close every connection; one that waits for an answer closes at its time-out."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            for links in self._idle.values():
                while links:
                    links.pop().close()
        for lock, link in self._patient.values():
            if lock.acquire(blocking=False):  # else it closes with its thread
                link.close()
                lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _ask(link: BrokerConnection, request: ApiMessage, within: float | None) -> Any:  # noqa: ANN401 - kafka-python's answers
    """Ask; if the broker had closed an idle connection, ask once more on a new one."""
    from_before = link.connected
    try:
        return link.ask(request, within=within)[0]
    except NoAnswer as error:
        if not from_before or isinstance(error.__cause__, TimeoutError):
            raise
        return link.ask(request, within=within)[0]


def _settled(futures: set[Future[Any]], most: int, within: float) -> set[Future[Any]]:
    """Return the finished futures: all, or those finished ``GRACE`` after ``most`` of them had an answer."""
    end = time.monotonic() + within
    done: set[Future[Any]] = set()
    in_grace = False
    while futures and (left := end - time.monotonic()) > 0:
        more, futures = wait(futures, left, FIRST_COMPLETED)
        done |= more
        if not in_grace and sum(one.exception() is None for one in done) >= most:
            end, in_grace = min(end, time.monotonic() + GRACE), True
    return done
