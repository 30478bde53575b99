"""Move partitions to other brokers."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Fact, Reassign, Site
from chaosk.spec.contracts.target import NodeKind
from chaosk.steps._partitions import Numbers, TopicStep, moving
from chaosk.steps._phases import Phases

WITHIN = 120.0
"""Time-out in seconds until the new replicas are in sync and the old ones are gone: whole replicas are copied."""


class ReassignPartitions(TopicStep):
    """Move partitions to other brokers, or reorder their replicas, as kafka-reassign-partitions.sh does.

    The first broker becomes the preferred leader. Leadership moves to it at once if the old leader is no longer a
    replica, otherwise at the next election. It takes once all replicas are in place and in sync, or, with ``until:
    accepted``, once the controller has it in progress, so that the next entry meets it half-way. There is no undo;
    another entry can move the partitions back.
    """

    harmless: ClassVar[bool] = True
    example: ClassVar[str] = """\
at: 10s
reassign_partitions: {topic: orders, replicas: [broker 0, broker 1]}
"""

    partitions: Numbers | None = None
    """The partitions, all with the same replicas; default: all of them."""
    replicas: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """Targets that name the brokers, the preferred leader first."""
    until: Literal["complete", "accepted"] = "complete"
    """The progress that is awaited before the next entry begins."""

    def takes(self) -> frozenset[NodeKind]:
        """Accept brokers, which hold replicas."""
        return frozenset({"broker"})

    def targets(self) -> tuple[str, ...]:
        """Return the new replicas."""
        return self.replicas

    def phases(self, site: Site) -> Phases:
        """Send one request for all partitions; it is complete, or in progress."""
        brokers = self._brokers(site)
        assigned = [self._assigned(which, ", ".join(map(str, brokers))) for which in self.partitions or ("all",)]
        return Phases(
            inject=[Reassign(topic=self.topic, partitions=self.partitions, replicas=brokers)],
            verify=assigned if self.until == "complete" else [moving(self.topic, self.partitions)],
        )

    def _assigned(self, which: int | str, brokers: str) -> Fact:
        query = f"assigned({self.topic}, {which}, {brokers})"
        return Fact(says=f"{self.topic} ({which}) is on the brokers {brokers}", query=query, within=WITHIN)

    def _brokers(self, site: Site) -> tuple[int, ...]:
        """Return the broker ids; raises StepError for other nodes."""
        nodes = site.nodes(*self.replicas)
        if wrong := [node for node in nodes if node.kind != "broker"]:
            raise StepError(f"{site.entry}: a replica is on a broker, and {wrong[0]} is none; name brokers")
        return tuple(int(node.id) for node in nodes)
