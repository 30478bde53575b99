"""Shared base of steps on whole hosts."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Site, Step
from chaosk.spec.contracts.target import NodeKind


class PerHostStep(Step, ABC):
    """A step on each targeted host, or on the host of each target."""

    lasting: ClassVar[bool] = True

    target: str
    """The hosts, or brokers, controllers, ZooKeeper nodes or listeners on them."""

    def takes(self) -> frozenset[NodeKind]:
        """Accept all nodes that have a host."""
        return frozenset({"host", "broker", "controller", "zookeeper", "listener"})

    def hosts(self, site: Site) -> tuple[str, ...]:
        """Return the hosts, without duplicates; raises StepError for a target without a host."""
        nodes = site.nodes(self.target)
        nowhere = [str(node) for node in nodes if node.host is None]
        if nowhere:
            raise StepError(
                f"{site.entry}: the target {self.target!r} names {nowhere[0]}; name hosts, like host(broker 0)"
            )
        return tuple(dict.fromkeys(node.host for node in nodes if node.host))
