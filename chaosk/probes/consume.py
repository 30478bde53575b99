"""The probe ``consume``: reads a topic as a member of a group, or partitions of its own choice, and logs it all."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from chaosk.probes import _client, _fields, _processing
from chaosk.probes._consuming import Consuming
from chaosk.probes._contract import Probe, Workplace

_RESERVED = {
    **_client.RESERVED,
    "group.id": "write group",
    "enable.auto.commit": "write commit: automatic, or another way to commit",
    "enable.auto.offset.store": "write commit: sync or async to choose what is committed",
    "enable.partition.eof": "it tells how far the probe has read",
    "isolation.level": "write isolation_level",
}
Commit = Literal["automatic", "sync", "async", "none"]


class Consume(Probe):
    """Read records from a topic and log every delivery, poll, assignment, commit and error.

    With ``group`` it subscribes and shares the partitions with the group's other members; with ``assign`` it takes
    partitions without asking anybody. A record counts as processed once the poll returned it, or once the work that
    ``processing`` makes of it is over; with ``commit: sync`` or ``async`` it is committed after that, with
    ``automatic`` librdkafka commits when it likes. A clean end commits what was processed and leaves the group.
    """

    example: ClassVar[str] = "consume: {topic: orders, group: readers, commit: sync, commit_every: batch}"

    topic: _fields.TopicName
    """The topic it reads."""
    group: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,249}$")] | None = None
    """The consumer group; without it ``assign`` says what to read, and nothing is committed."""
    assign: Literal["all"] | Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(strict=False)] | None = None
    """Partitions to read without the group's say: ``all`` or a list; without it the group assigns them."""
    start: Literal["committed", "beginning", "end"] = "committed"
    """Where each partition is begun for the first time; ``committed`` falls back to ``auto.offset.reset``."""
    commit: Commit | None = None
    """``automatic`` (the default with a group), ``sync``, ``async`` or ``none``."""
    commit_every: _fields.CommitEvery | None = None
    """How often ``sync`` and ``async`` commit: ``record``, ``batch`` (the default), ``100`` (records) or ``5s``."""
    batch: Annotated[int, Field(ge=1, le=100_000)] = 500
    """How many records one poll returns at most."""
    processing: _processing.Processing | None = None
    """How long the application works on each record or batch, like ``10ms/record`` or ``2s/batch``; without it no time.

    A record is delivered once the work on it is over: what a killed process had in its hands was not processed.
    """
    failing: _processing.Failing | None = None
    """Records whose processing fails, and what is done then, like ``{every: 100, handling: swallow}``; see above."""
    isolation_level: Literal["read_committed", "read_uncommitted"] = "read_committed"
    """Whether records of open and aborted transactions are delivered."""
    connections: bool = False
    """Whether the client's TCP connections are logged, by role and broker, four times a second."""
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
        if self.commit_every is not None and self.commit not in {"sync", "async"}:
            msg = "commit_every goes with commit: sync or async; automatic commits follow auto.commit.interval.ms"
            raise ValueError(msg)
        _client.check_consumer(self.settings())
        return self

    def groups(self) -> tuple[str, ...]:
        """The group it commits for, if it has one."""
        return () if self.group is None else (self.group,)

    def topics(self) -> tuple[str, ...]:
        """The one topic it reads."""
        return (self.topic,)

    def committing(self) -> Commit:
        """How it commits, the default filled in."""
        return self.commit or ("automatic" if self.group else "none")

    def settings(self) -> dict[str, Any]:
        """The client's settings that follow from the fields, and those of ``config``."""
        return {
            "auto.offset.reset": "earliest",
            **self.config,
            "group.id": self.group or "chaosk-without-group",
            "enable.auto.commit": self.committing() == "automatic",
            "enable.partition.eof": True,
            "isolation.level": self.isolation_level,
        }

    def work(self, place: Workplace) -> None:
        """Read until told to end."""
        Consuming(self, place).run()
