"""What steps on whole hosts have in common: whose hosts."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from typing import ClassVar

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Site, Step
from chaosk.spec.contracts.target import NodeKind
from chaosk.spec.harm import Harm


class PerHostStep(Step, ABC):
    """A step on each of the hosts that a target names, or on which what it names runs."""

    lasting: ClassVar[bool] = True

    target: str
    """Whose hosts: hosts, brokers, controllers or ZooKeeper nodes."""

    def takes(self) -> frozenset[NodeKind]:
        """What has a host."""
        return frozenset({"host", "broker", "controller", "zookeeper", "listener"})

    def targets(self) -> tuple[str, ...]:
        """The one target."""
        return (self.target,)

    def hosts(self, site: Site) -> tuple[str, ...]:
        """The hosts, each once; raises StepError for what runs on none of them."""
        nodes = site.nodes(self.target)
        nowhere = [str(node) for node in nodes if node.host is None]
        if nowhere:
            raise StepError(
                f"{site.entry}: the target {self.target!r} names {nowhere[0]}; name hosts, like host(broker 0)"
            )
        return tuple(dict.fromkeys(node.host for node in nodes if node.host))

    def harm(self, site: Site) -> Iterator[Harm]:  # noqa: ARG002 - the same everywhere
        """None: servers go on."""
        yield from ()
