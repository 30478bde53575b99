"""The probe ``call``: one kind of call to the cluster, repeated, as by tools and starting applications."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from chaosk.core.units import Duration
from chaosk.probes import _client, _fields
from chaosk.spec.contracts.probe import Probe, Workplace

Operation = Literal["metadata", "end_offsets", "committed_offsets", "describe_group", "describe_cluster"]

_NEEDS: dict[Operation, tuple[str, ...]] = {
    "end_offsets": ("topic",),
    "committed_offsets": ("topic", "group"),
    "describe_group": ("group",),
}
_TAKES: dict[Operation, tuple[str, ...]] = {**_NEEDS, "metadata": ("topic",)}


class Call(Probe):
    """Make one kind of call to the cluster repeatedly, and record the outcome and duration of each.

    These are the requests of starting applications and of an operator's tools. The probe shows which call works while a
    part of the cluster is gone, which fails, which hangs and for how long, and when it works again. There is never more
    than one call in progress: a hanging call delays the next.
    """

    example: ClassVar[str] = "call: {operation: end_offsets, topic: orders, every: 2s, timeout: 30s}"

    operation: Operation
    """The kind of call.

    ``metadata`` (of ``topic``, or of all), ``end_offsets`` (of every partition of ``topic``, from its leader),
    ``committed_offsets`` (of ``group`` for ``topic``, from its coordinator), ``describe_group`` (its members, from the
    coordinator) or ``describe_cluster`` (the brokers, from the one that is named as the controller).
    """
    topic: _fields.TopicName | None = None
    """The topic of the call."""
    group: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,249}$")] | None = None
    """The consumer group of the call; the probe does not join it."""
    every: Annotated[Duration, Field(ge=0.1, le=600.0)] = 1.0
    """Time from the start of one call to the start of the next, unless the first takes longer."""
    timeout: Annotated[Duration, Field(ge=0.1, le=600.0)] = 60.0
    """Time-out of the client for a call."""
    client: Literal["kept", "fresh"] = "kept"
    """``kept``: one client makes all calls; ``fresh``: each is made by a new client, which connects first.

    The former is an application that has run for long, the latter one that is just starting.
    """
    brokers: Literal["all"] | Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(strict=False, min_length=1)] = (
        "all"
    )
    """The bootstrap brokers (``bootstrap.servers``): ``all``, or a list of their ids."""
    config: Annotated[dict[str, _fields.Setting], AfterValidator(_fields.refuse(_client.RESERVED))] = Field(
        default_factory=dict
    )
    """Any librdkafka setting of an admin client."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Call:
        for name in ("topic", "group"):
            given = getattr(self, name) is not None
            if name in _NEEDS.get(self.operation, ()) and not given:
                msg = f"operation: {self.operation} asks about a {name}; write {name}"
                raise ValueError(msg)
            if given and name not in _TAKES.get(self.operation, ()):
                msg = f"operation: {self.operation} asks about no {name}; leave {name} out"
                raise ValueError(msg)
        _client.check_producer(self.config)
        return self

    def topics(self) -> tuple[str, ...]:
        """Empty: it neither reads nor writes one."""
        return ()

    def work(self, place: Workplace) -> None:
        """Call until stopped."""
        from chaosk.probes._call_loop import CallLoop  # noqa: PLC0415 - not needed to read a scenario

        CallLoop(self, place).run()
