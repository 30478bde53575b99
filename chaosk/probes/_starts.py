"""Start positions of a consumer's assigned partitions, with the requests for them as events."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, OFFSET_INVALID, Consumer, KafkaException, TopicPartition

from chaosk.probes._ownership import Ownership, Place
from chaosk.spec.contracts.probe import Workplace

if TYPE_CHECKING:
    from chaosk.probes.consume import Consume

Edge = Literal["beginning", "end"]
Restore = Callable[[], dict[Place, int] | None]
"""Returns the offsets that an application has stored; None if it was stopped first."""

_ASK_WITHIN = 5.0  # seconds; without an answer of the coordinator librdkafka asks again itself
_now = time.monotonic_ns


class Starts:
    """Determines start positions for one incarnation."""

    def __init__(self, client: Consumer, probe: Consume, place: Workplace, restore: Restore | None = None) -> None:
        """``restore``: reads the offsets of an application that keeps them itself."""
        self._client, self._probe, self._place, self._restore = client, probe, place, restore
        self._who = (place.probe, place.incarnation)
        strategy = str(probe.config.get("partition.assignment.strategy", ""))
        self.cooperative = "cooperative" in strategy or probe.config.get("group.protocol") == "consumer"
        """True if partitions are assigned and revoked incrementally."""
        self._latest = str(probe.settings()["auto.offset.reset"]) in {"latest", "largest", "end"}
        self.answered = False
        """True if the committed offsets were known at the last start."""

    def wanted(self) -> tuple[int, ...]:
        """Return the partitions of a consumer with manual assignment; asks until it is answered or stopped."""
        if isinstance(self._probe.assign, tuple):
            return self._probe.assign
        while not self._place.stopping():
            try:
                found = self._client.list_topics(self._probe.topic, timeout=1).topics[self._probe.topic]
            except KafkaException:
                continue
            if found.error is None and found.partitions:
                return tuple(sorted(found.partitions))
            time.sleep(0.1)
        return ()

    def at(self, places: list[Place], held: Ownership) -> list[TopicPartition]:
        """Return the start positions; an unknown offset is left to librdkafka."""
        committed = self._committed(places) if self._probe.group and places else {}
        self.answered = bool(committed)
        return [self._one(place, committed.get(place), held) for place in places]

    def _one(self, place: Place, committed: TopicPartition | None, held: Ownership) -> TopicPartition:
        if self._probe.start != "committed" and held.first_time(place):
            return self._edge(place, self._probe.start)
        if committed is not None and committed.offset >= 0:
            return committed
        if self._latest and (committed is not None or not self._probe.group):
            return self._edge(place, "end", "reset")
        return TopicPartition(*place) if self._restore is None else TopicPartition(*place, OFFSET_BEGINNING)

    def _committed(self, places: list[Place]) -> dict[Place, TopicPartition]:
        invoked = _now()
        if self._restore is not None:
            return self._stored(places, invoked, self._restore())
        try:
            answers = self._client.committed([TopicPartition(*place) for place in places], timeout=_ASK_WITHIN)
        except KafkaException:
            return {}
        return self._known({(each.topic, each.partition): each for each in answers if each.error is None}, invoked)

    def _stored(
        self, places: list[Place], invoked: int, stored: dict[Place, int] | None
    ) -> dict[Place, TopicPartition]:
        if stored is None:
            return {}
        return self._known(
            {place: TopicPartition(*place, stored.get(place, OFFSET_INVALID)) for place in places}, invoked
        )

    def _known(self, known: dict[Place, TopicPartition], invoked: int) -> dict[Place, TopicPartition]:
        """Write the answers, and return them."""
        completed = _now()
        for place, each in known.items():
            offset = each.offset if each.offset >= 0 else None
            self._place.log.write("fetched", (*self._who, self._probe.group, *place, offset, invoked, completed))
        return known

    def _edge(self, place: Place, edge: Edge, kind: str = "seek") -> TopicPartition:
        """Return the first or the next offset of the log as a number, because its event has to contain one.

        A client that resets a position to the end does not report the offset. Records written before it, which are not
        owed, could not be distinguished from missed ones. Therefore the end is read here and used as the start.
        """
        partition = TopicPartition(*place)
        try:
            marks = self._client.get_watermark_offsets(partition, timeout=_ASK_WITHIN)
        except KafkaException:
            marks = None
        if marks is None:
            logical = {"beginning": OFFSET_BEGINNING, "end": OFFSET_END}
            return TopicPartition(*place, logical[edge])
        partition.offset = marks[0] if edge == "beginning" else marks[1]
        self._place.log.write("seeks", (*self._who, *place, partition.offset, _now(), kind))
        return partition
