"""The probe ``consume``: reads a topic as a member of a group or with manual assignment, and logs all events."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from chaosk.probes import _client, _fields, _offset_store, _processing
from chaosk.probes._consume_loop import ConsumeLoop
from chaosk.spec.contracts.probe import Probe, Workplace

_RESERVED = {
    **_client.RESERVED,
    "group.id": "write group",
    "enable.auto.commit": "write commit: automatic, or another way to commit",
    "enable.auto.offset.store": "write commit: sync or async to choose the offsets that are committed",
    "enable.partition.eof": "it shows how far the probe has read",
    "isolation.level": "write isolation_level",
}
_WRITING = {**_client.RESERVED, "transactional.id": "the probe does not write in transactions"}
Commit = Literal["automatic", "sync", "async", "none"]


class Consume(Probe):
    """Read records from a topic and log every delivery, poll, assignment, commit and error.

    With ``group`` it subscribes and shares the partitions with the group's other members; with ``assign`` it takes
    partitions by itself. A record counts as processed once the poll returned it, or once its ``processing`` is over.
    With ``commit: sync`` or ``async`` it is committed after that, with ``automatic`` librdkafka chooses the time. A
    clean end commits the processed records and leaves the group.

    With ``failing`` the processing of some records fails, and the probe reacts like an application. One reaction is a
    dead letter: a record of the probe, whose loss is judged like that of any other record.

    An error that is fatal to the client ends the work of the process for good, like ``FENCED_INSTANCE_ID`` when another
    member has taken its ``group.instance.id``. Its partitions are lost to it then, and it waits to be stopped.
    """

    example: ClassVar[str] = "consume: {topic: orders, group: readers, commit: sync, commit_every: batch}"

    topic: _fields.TopicName
    """The topic it reads."""
    group: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,249}$")] | None = None
    """The consumer group; without it ``assign`` selects the partitions, and nothing is committed."""
    assign: Literal["all"] | Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(strict=False)] | None = None
    """Partitions to assign manually: ``all`` or a list; without it the group assigns them."""
    start: Literal["committed", "beginning", "end"] = "committed"
    """Position of each partition's first start; ``committed`` falls back to ``auto.offset.reset``."""
    commit: Commit | None = None
    """``automatic`` (the default with a group), ``sync``, ``async`` or ``none``."""
    commit_every: _fields.CommitEvery | None = None
    """Interval of ``sync`` and ``async`` commits: ``record``, ``batch`` (the default), ``100`` (records) or ``5s``."""
    batch: Annotated[int, Field(ge=1, le=100_000)] = 500
    """Largest number of records returned by one poll."""
    processing: _processing.Processing | None = None
    """Processing time of each record or batch, like ``10ms/record`` or ``2s/batch``; default none.

    A record is delivered once its processing is over: a killed process has not processed its current records.
    """
    failing: _processing.Failing | None = None
    """Records whose processing fails, and the reaction, like ``{every: 100, handling: swallow}``; see above."""
    producer_config: Annotated[dict[str, _fields.Setting], AfterValidator(_fields.refuse(_WRITING))] = Field(
        default_factory=dict
    )
    """Any librdkafka producer setting, for the producer that writes dead letters or offsets."""
    offsets: _offset_store.Offsets | None = None
    """Keep the group's offsets in the application's own topic instead, like ``{topic: orders-offsets}``.

    Each commit is one record there, and a starting process reads the last ones back; Kafka's group coordinator is not
    asked. Requires ``assign`` and ``commit: sync``; ``group`` is the name of the application then.
    """
    isolation_level: Literal["read_committed", "read_uncommitted"] = "read_committed"
    """Isolation level: ``read_uncommitted`` also delivers records of open and aborted transactions."""
    connections: bool = False
    """True to log the client's TCP connections, by role and broker, four times a second."""
    config: Annotated[dict[str, _fields.Setting], AfterValidator(_fields.refuse(_RESERVED))] = Field(
        default_factory=dict
    )
    """Any librdkafka consumer setting; ``auto.offset.reset`` is ``earliest`` unless set, so that nothing is skipped."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Consume:
        if self.group is None and self.assign is None:
            msg = "neither group nor assign: write group to subscribe, or assign: all to read every partition"
            raise ValueError(msg)
        if self.group is None and self.commit not in {None, "none"}:
            msg = f"commit: {self.commit} needs a group to commit to; write group, or leave commit out"
            raise ValueError(msg)
        if self.commit_every is not None and self.committing() not in {"sync", "async"}:
            msg = "commit_every goes with commit: sync or async; automatic commits follow auto.commit.interval.ms"
            raise ValueError(msg)
        self._writes_sense()
        _client.check_consumer(self.settings())
        if self.producer_config:
            _client.check_producer(self.writing())
        return self

    def _writes_sense(self) -> None:
        if self.producer_config and self.writes_to() is None:
            msg = "producer_config is for a probe that writes: with `failing: {handling: dead_letter}` or `offsets`"
            raise ValueError(msg)
        if self.offsets is None:
            return
        if self.group is None or self.assign is None or self.commit not in {None, "sync"}:
            msg = "`offsets` needs a group (a name for the application), assign and commit: sync; write them"
            raise ValueError(msg)
        if self.start != "committed" or self.letters() is not None:
            msg = "`offsets` determines the start, and excludes dead letters; leave start or failing out"
            raise ValueError(msg)
        if self.offsets.topic == self.topic:
            msg = f"the probe would read its own offsets; write another topic than {self.topic} to `offsets`"
            raise ValueError(msg)

    def groups(self) -> tuple[str, ...]:
        """The group for which it commits at a coordinator, if it does."""
        return () if self.group is None or self.offsets is not None else (self.group,)

    def membership(self) -> dict[str, Any] | None:
        """The settings that it wrote, if it subscribes."""
        return self.config if self.groups() and self.assign is None else None

    def topics(self) -> tuple[str, ...]:
        """The topic that it reads, and that of its dead letters or offsets."""
        other = self.writes_to()
        return (self.topic,) if other is None else (self.topic, other)

    def reads(self) -> tuple[str, ...]:
        """The topic that it reads."""
        return (self.topic,)

    def letters(self) -> str | None:
        """The topic of its dead letters, if it sends any."""
        return None if self.failing is None else self.failing.topic

    def writes_to(self) -> str | None:
        """The topic to which it writes, if it does."""
        return self.letters() if self.offsets is None else self.offsets.topic

    def writing(self) -> dict[str, Any]:
        """Return the settings of its own producer."""
        return {**({} if self.offsets is None else _offset_store.SETTINGS), **self.producer_config}

    def committing(self) -> Commit:
        """Return its commit mode, with the default filled in."""
        return self.commit or ("sync" if self.offsets else "automatic" if self.group else "none")

    def settings(self) -> dict[str, Any]:
        """Return the client's settings that follow from the fields, and those of ``config``."""
        return {
            "auto.offset.reset": "earliest",
            **self.config,
            "group.id": self.group or "chaosk-without-group",
            "enable.auto.commit": self.committing() == "automatic",
            "enable.partition.eof": True,
            "isolation.level": self.isolation_level,
        }

    def work(self, place: Workplace) -> None:
        """Read until stopped."""
        ConsumeLoop(self, place).run()
