"""The loop of the probe ``transform``: outputs are written and inputs committed in one transaction, or not at all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from chaosk.probes import _client
from chaosk.probes._connections import Watch
from chaosk.probes._consume_loop import ConsumeLoop
from chaosk.probes._ownership import Place
from chaosk.probes._sends import Sends
from chaosk.probes._transaction import ABORTED, COMMITTED, Ending, Transactions
from chaosk.rundir.events.payload import Encoder
from chaosk.spec.contracts.probe import Workplace

if TYPE_CHECKING:
    from chaosk.probes.transform import Transform

_WAIT = 0.005  # seconds for which one poll for delivery reports waits at the end of a transaction
_ASK_WITHIN = 1.0  # seconds for which one request for committed offsets, or one seek, waits
_now = time.monotonic_ns


class TransformLoop(ConsumeLoop):
    """One incarnation of an application that reads, writes and commits in transactions."""

    _kind = "transform"

    def __init__(self, probe: Transform, place: Workplace) -> None:
        """Creates both clients; they send no request before ``run``."""
        super().__init__(probe.reading(), place)
        self._into, self._group, self._wanted = probe.to, probe.group, probe.transaction
        self._settings = probe.writing(place.probe)
        facts = _client.producer_facts({**place.client, **self._settings})
        self._producer = (facts.acks, facts.idempotent, facts.max_in_flight)
        self._watch = Watch(place, "producer", on=probe.connections)
        self._transactions = Transactions(place, probe.transaction.name(place.probe), self._made, self._errors)
        self._encoder = Encoder(place.run_id, place.probe, place.incarnation, probe.size)
        who = (place.probe, place.incarnation, probe.to)
        self._sends = Sends(place.log, who, self._encoder.body_at, self._tally, sent_once=False)
        self._reports: list[Message] = []
        self._times: list[tuple[int, int]] = []
        self._begins: dict[Place, int] = {}
        """The first input of the open transaction, by partition."""
        self._offsets: dict[Place, int] = {}
        """The offset that the open transaction is to commit, by partition."""
        self._inputs = self._since = 0
        self._read_to: dict[Place, int] = {}
        """The end of all reading by the process, by partition; rewound records are still its own to process."""

    def _made(self) -> Producer:
        own = _client.settings(self._place, self._settings, self._errors)
        return Producer({**own, **self._watch.settings(self._settings)})

    # --- reading and writing --------------------------------------------------------------------------------------

    def _poll(self) -> None:
        transactions = self._transactions
        if transactions.spoilt:
            transactions.renew()
        if transactions.current is None and transactions.begin():
            self._sends.transaction = (transactions.current, transactions.epoch)
            self._reads.transaction = transactions.current
        if transactions.current is None and not transactions.fenced:
            return
        super()._poll()
        self._serve(0)
        late = self._wanted.lasts is not None and _now() - self._since >= self._wanted.lasts * 1e9
        full = self._inputs >= (self._wanted.limit() or 2**62)
        if transactions.current is not None and (transactions.broken or (self._offsets and (late or full))):
            self._complete()

    def _take(self, records: Sequence[Message], at: int) -> dict[Place, int]:
        back = super()._take(records, at)
        self._since = self._since if self._offsets else at
        self._inputs += len(records)
        first = self._sends.outstanding.next
        encode = self._encoder.encode
        outputs: list[dict[str, Any]] = [
            {"value": encode(seq, at), "key": record.key()} for seq, record in enumerate(records, first)
        ]
        for seq, record in enumerate(records, first):
            place = (str(record.topic()), int(record.partition() or 0))
            offset = int(record.offset() or 0)
            self._begins.setdefault(place, offset)
            self._offsets[place] = offset + 1
            self._read_to[place] = max(offset + 1, self._read_to.get(place, 0))
            self._log.write("outputs", (*self._who, seq, *place, offset, at))
        self._sends.outstanding.sent(len(outputs), _now())
        self._transactions.client.produce_batch(self._into, outputs, -1, self._report)
        for seq, output in enumerate(outputs, first):
            if "_error" in output:
                self._sends.refused((seq, at), None, output["_error"].name())
                self._transactions.broken = True
        return back

    def _report(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._transactions.broken = True
        self._reports.append(message)

    def _serve(self, wait: float) -> None:
        before = len(self._reports)
        try:
            self._transactions.client.poll(wait)
        except KafkaException as error:
            self._transactions.failed(error.args[0])
        self._counted(before)

    def _counted(self, before: int) -> None:
        if len(self._reports) > before:
            self._times.append((_now(), len(self._reports) - before))
            self._tally.answers += len(self._reports) - before

    def _keep(self) -> None:
        self._written()
        super()._keep()

    def _written(self) -> None:
        (reports, self._reports), (times, self._times) = (self._reports, []), (self._times, [])
        self._sends.reported(reports, times)

    # --- transactions ---------------------------------------------------------------------------------------------

    def _complete(self, *, going: Sequence[Place] = (), give_up: bool = False) -> None:
        """End the open transaction, and rewind its inputs if it did not commit, except for ``going`` partitions."""
        transactions, every = self._transactions, self._wanted.abort_every
        while not give_up and len(transactions.client) and not transactions.broken and transactions.patient():
            self._serve(_WAIT)
        before = len(self._reports)
        self._reads.move()
        self._log.flush()  # inputs, and their assignment to outputs, must be on disk before outputs can become visible
        on_purpose = every and transactions.count % every == 0 and not self._place.stopping()
        if give_up or on_purpose or transactions.broken or len(transactions.client):
            outcome = transactions.abort()
        elif transactions.send_offsets(self._offsets, self._client, self._group):
            outcome = transactions.commit()
        else:
            outcome = transactions.abort()
        self._counted(before)
        self._account()
        begins, self._begins, self._offsets, self._inputs = self._begins, {}, {}, 0
        if outcome != COMMITTED:
            self._rewind({place: offset for place, offset in begins.items() if place not in going}, outcome)

    def _account(self) -> None:
        """Write the outcomes of the records of a transaction that has ended."""
        until = _now() + 2e9
        if self._transactions.spoilt or self._transactions.fenced:
            self._transactions.client.purge()
        while len(self._transactions.client) and _now() < until:
            self._serve(_WAIT)
        self._written()
        for seq, invoked in self._sends.outstanding.left():
            self._sends.never_reported((seq, invoked), None, invoked)
        self._reads.move()
        self._sends.transaction, self._reads.transaction = (None, None), None
        if self._transactions.fenced:
            self._client.unsubscribe()

    def _rewind(self, begins: dict[Place, int], outcome: Ending) -> None:
        """Go back to the begin of the transaction, or, if its end is unknown, to the group's committed offsets."""
        wanted = {place: offset for place, offset in begins.items() if place in self._held.held}
        while wanted and self._transactions.patient() and not self._transactions.fenced:
            known = wanted if outcome == ABORTED else self._committed(wanted)
            for place, offset in known.items():
                try:
                    self._client.seek(TopicPartition(*place, offset))
                except KafkaException as error:
                    self._fetching.noted(error.args[0])
                    continue
                self._log.write("seeks", (*self._who, *place, offset, _now(), "seek"))
                self._positions[place] = offset
                wanted = {other: begin for other, begin in wanted.items() if other != place}
            if wanted:
                time.sleep(_WAIT)

    def _committed(self, begins: dict[Place, int]) -> dict[Place, int]:
        """Return the group's committed offsets, once the coordinator has ended the transaction, too."""
        if self._transactions.spoilt:
            self._transactions.renew()
        if not self._transactions.initialize():
            return {}
        try:
            found = self._client.committed([TopicPartition(*place) for place in begins], timeout=_ASK_WITHIN)
        except KafkaException:
            return {}
        known = [each for each in found if each.error is None]
        return {
            (each.topic, each.partition): each.offset if each.offset >= 0 else begins[each.topic, each.partition]
            for each in known
        }

    # --- partitions and end ---------------------------------------------------------------------------------------

    def _revoked(self, client: Consumer, partitions: list[TopicPartition]) -> None:
        self._taken_away(partitions)
        super()._revoked(client, partitions)

    def _lost(self, client: Consumer, partitions: list[TopicPartition]) -> None:
        self._taken_away(partitions)
        super()._lost(client, partitions)

    def _taken_away(self, partitions: list[TopicPartition]) -> None:
        self._before_change()
        if self._transactions.current is not None and self._offsets:
            self._complete(going=[(each.topic, each.partition) for each in partitions], give_up=True)

    def _let_go(self) -> None:
        self._finish()
        if self._transactions.current is not None:
            self._complete(give_up=not self._offsets)
        super()._let_go()

    def _finish(self) -> None:
        """Commit all inputs read, including those rewound since: a clean end leaves no input half processed."""
        while self._transactions.patient() and not self._transactions.fenced:
            if self._transactions.current is not None and self._offsets:
                self._complete()
            if not self._behind():
                return
            self._poll()
            self._keep()

    def _behind(self) -> bool:
        read_to = self._read_to.items()
        return any(self._positions.get(place, end) < end for place, end in read_to if place in self._held.held)

    def _rows(self) -> int:
        return self._reads.rows + self._sends.rows
