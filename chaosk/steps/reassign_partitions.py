"""Ask the controller to move partitions to other brokers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Deed, Fact, Reassign, Site, Step
from chaosk.spec.contracts.target import NodeKind
from chaosk.spec.harm import Harm
from chaosk.steps._partitions import Numbers, moving, same_topic

WITHIN = 120.0
"""Seconds until the new replicas are in sync and the others are gone: a replica is copied as a whole."""


class ReassignPartitions(Step):
    """Move partitions to other brokers, or put their replicas into another order, as kafka-reassign-partitions.sh does.

    The first broker named becomes the preferred leader; leadership moves to it at once where the old leader is no
    replica any more, and else when it is elected. It takes once all replicas are where they should be and in sync, or,
    with ``until: accepted``, once the controller has it under way: then what comes next meets it half-way. It leaves
    nothing to undo; another entry moves them back.
    """

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
at: 10s
reassign_partitions: {topic: orders, replicas: [broker 0, broker 1]}
"""

    topic: str
    """The topic, one of the scenario's."""
    partitions: Numbers | None = None
    """Which of its partitions; without it all of them, each with the same replicas."""
    replicas: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """Targets that name the brokers, the preferred leader first."""
    until: Literal["complete", "accepted"] = "complete"
    """How far it has to get before the next entry begins."""

    def takes(self) -> frozenset[NodeKind]:
        """Brokers, which hold replicas."""
        return frozenset({"broker"})

    def targets(self) -> tuple[str, ...]:
        """Where they move."""
        return self.replicas

    def harm(self, site: Site) -> Iterator[Harm]:  # noqa: ARG002 - the same everywhere
        """None: everybody goes on serving."""
        yield from ()

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """The topic's replicas."""
        yield same_topic(self.topic)

    def inject(self, site: Site) -> Iterator[Deed]:
        """One request for all of them."""
        yield Reassign(topic=self.topic, partitions=self.partitions, replicas=self._brokers(site))

    def verify(self, site: Site) -> Iterator[Fact]:
        """They are there, or under way."""
        if self.until == "accepted":
            yield moving(self.topic, self.partitions)
            return
        brokers = ", ".join(map(str, self._brokers(site)))
        for which in self.partitions or ("all",):
            query = f"assigned({self.topic}, {which}, {brokers})"
            yield Fact(says=f"{self.topic} ({which}) is on the brokers {brokers}", query=query, within=WITHIN)

    def _brokers(self, site: Site) -> tuple[int, ...]:
        """Ids; raises StepError for what is no broker."""
        nodes = site.nodes(*self.replicas)
        if wrong := [node for node in nodes if node.kind != "broker"]:
            raise StepError(f"{site.entry}: a replica is on a broker, and {wrong[0]} is none; name brokers")
        return tuple(int(node.id) for node in nodes)
