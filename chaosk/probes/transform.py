"""The probe ``transform``: reads a topic and writes one record for each to another one, exactly once."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from chaosk.core.units import Size
from chaosk.probes import _client, _fields
from chaosk.probes._transform_loop import TransformLoop
from chaosk.probes.consume import Consume
from chaosk.rundir.events.payload import SMALLEST
from chaosk.spec.contracts.probe import Probe, Workplace

_READING = {
    **_client.RESERVED,
    "group.id": "write group",
    "enable.auto.commit": "offsets are committed in transactions",
    "enable.auto.offset.store": "offsets are committed in transactions",
    "enable.partition.eof": "it shows how far the probe has read",
    "isolation.level": "it reads at read_committed",
}
_WRITING = {**_client.RESERVED, "transactional.id": "write `transaction: {id: ...}`"}


class Transform(Probe):
    """Read records of a topic as a member of a group, and write one record for each to another topic, exactly once.

    Outputs and the offsets of their inputs are committed in one transaction. If a transaction was not committed, the
    probe returns to the group's committed offsets, like an application. The table ``outputs`` names the input of each
    output. When partitions are taken away, the open transaction is aborted.
    """

    example: ClassVar[str] = "transform: {topic: orders, to: invoices, group: billing, transaction: {records: 100}}"

    topic: _fields.TopicName
    """The topic it reads."""
    to: _fields.TopicName
    """The topic it writes to."""
    group: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,249}$")]
    """The consumer group whose offsets it commits."""
    transaction: _fields.Transaction = _fields.Transaction()
    """Number of inputs, or duration, of each transaction, like ``{records: 100, abort_every: 10}``."""
    batch: Annotated[int, Field(ge=1, le=100_000)] = 100
    """Largest number of records returned by one poll."""
    size: Annotated[Size, Field(ge=SMALLEST, le=64 * 1024 * 1024)] = 100
    """Size of each output's value."""
    connections: bool = False
    """True to log the client's TCP connections, by role and broker, four times a second."""
    config: Annotated[dict[str, _fields.Setting], AfterValidator(_fields.refuse(_READING))] = Field(
        default_factory=dict
    )
    """Any librdkafka consumer setting; ``auto.offset.reset`` is ``earliest`` unless set."""
    producer_config: Annotated[dict[str, _fields.Setting], AfterValidator(_fields.refuse(_WRITING))] = Field(
        default_factory=dict
    )
    """Any librdkafka producer setting."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Transform:
        if self.topic == self.to:
            msg = f"it would read its own output; write another topic than {self.topic} to `to`"
            raise ValueError(msg)
        if self.transaction.takes_over:
            msg = "takes_over is for probes that produce; start a second transform of the same group instead"
            raise ValueError(msg)
        self.reading()
        _client.check_producer(self.writing("probe"))
        return self

    def topics(self) -> tuple[str, ...]:
        """The topics that it reads and writes."""
        return (self.topic, self.to)

    def reads(self) -> tuple[str, ...]:
        """The topic that it reads."""
        return (self.topic,)

    def groups(self) -> tuple[str, ...]:
        """The group for which it commits."""
        return (self.group,)

    def transacts(self) -> tuple[str, ...]:
        """The topic to which it writes."""
        return (self.to,)

    def transactional_ids(self, name: str) -> tuple[str, ...]:
        """Its ``transactional.id``."""
        return (self.transaction.name(name),)

    def reading(self) -> Consume:
        """Return the settings of its consumer part."""
        return Consume(
            topic=self.topic,
            group=self.group,
            commit="none",
            batch=self.batch,
            connections=self.connections,
            config=self.config,
        )

    def writing(self, name: str) -> dict[str, Any]:
        """Return the producer's settings for a probe of that name."""
        return {**self.producer_config, **self.transaction.settings(name)}

    def work(self, place: Workplace) -> None:
        """Read and write until stopped."""
        TransformLoop(self, place).run()
