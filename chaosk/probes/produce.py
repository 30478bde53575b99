"""The probe ``produce``: writes records at a fixed rate, independent of the cluster, and logs every outcome."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, model_validator

from chaosk.core.units import Size
from chaosk.probes import _client, _fields
from chaosk.probes._produce_loop import ProduceLoop
from chaosk.probes._schedule import Schedule
from chaosk.probes._transactional_loop import TransactionalLoop
from chaosk.rundir.events.payload import SMALLEST
from chaosk.spec.contracts.probe import Probe, Workplace

_RESERVED = {**_client.RESERVED, "transactional.id": "write `transaction: {id: ...}`"}


class Produce(Probe):
    """Write records to a topic, open loop: each is due at a predetermined time, regardless of the cluster's state.

    Latency therefore counts from a record's due time. The probe sends a record once; retries of librdkafka depend on
    ``config``. Records in flight when the probe is killed have no event; a clean end waits up to 10 s for outcomes and
    gives up the rest.
    """

    example: ClassVar[str] = "produce: {topic: orders, rate: 500/s, config: {acks: all, enable.idempotence: true}}"
    writes: ClassVar[bool] = True

    topic: _fields.TopicName
    """The topic it writes to."""
    rate: _fields.SendRate = 100.0
    """Records per second, like ``500/s``, or ``as_fast_as_possible`` (then a record is due when it is sent)."""
    ramp: _fields.Ramp | None = None
    """Changes the rate linearly from ``rate``, like ``{to: 1000/s, over: 30s}``."""
    keys: _fields.Keys = "none"
    """``none``, ``sequence`` (a separate key for each record), or the number of distinct keys to use in turn."""
    size: Annotated[Size, Field(ge=SMALLEST, le=64 * 1024 * 1024)] = 100
    """Size of each record's value; it has a minimum for identity and checksum."""
    partition: Annotated[int, Field(ge=0)] | None = None
    """Write only to this partition; without it the client's partitioner chooses."""
    transaction: _fields.Transaction | None = None
    """Write in transactions, like ``{records: 100, abort_every: 10}``; without it records are sent one by one."""
    connections: bool = False
    """True to log the client's TCP connections, by role and broker, four times a second."""
    config: Annotated[dict[str, _fields.Setting], AfterValidator(_fields.refuse(_RESERVED))] = Field(
        default_factory=dict
    )
    """Any librdkafka producer setting, like ``acks: all``; defaults are librdkafka's."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Produce:
        if self.ramp and math.isinf(self.rate):
            msg = f"ramp has no start when the rate is {_fields.FULL_SPEED}; give a rate, or leave ramp out"
            raise ValueError(msg)
        if self.transaction and math.isinf(self.rate):
            msg = f"transactions need a rate, not {_fields.FULL_SPEED}; write one, like 500/s"
            raise ValueError(msg)
        _client.check_producer(self.settings("probe"))
        return self

    def topics(self) -> tuple[str, ...]:
        """The topic to which it writes."""
        return (self.topic,)

    def transacts(self) -> tuple[str, ...]:
        """Its topic, if it writes in transactions."""
        return (self.topic,) if self.transaction else ()

    def transactional_ids(self, name: str) -> tuple[str, ...]:
        """Its ``transactional.id``, if it writes in transactions."""
        return (self.transaction.name(name),) if self.transaction else ()

    def schedule(self) -> Schedule | None:
        """Return the due times of records; None at full speed."""
        if math.isinf(self.rate):
            return None
        ramp = self.ramp
        return Schedule(self.rate, ramp.to if ramp else self.rate, ramp.over if ramp else 0.0)

    def settings(self, name: str) -> dict[str, _fields.Setting]:
        """Return the client's settings for a probe of that name."""
        return self.config if self.transaction is None else {**self.config, **self.transaction.settings(name)}

    def key(self, seq: int) -> bytes | None:
        """Return the key of record ``seq``."""
        if self.keys == "none":
            return None
        return b"%d" % (seq if isinstance(self.keys, str) else seq % self.keys)

    def work(self, place: Workplace) -> None:
        """Send until stopped."""
        (TransactionalLoop if self.transaction else ProduceLoop)(self, place).run()
