"""Shared base of steps on the version of a server that is started through a link."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterator

from chaosk.core.errors import StepError
from chaosk.hosts.commands import service, versions
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.contracts.target import Node, NodeKind
from chaosk.spec.inventory import KafkaProcess
from chaosk.steps._phases import PhasedStep
from chaosk.steps._server import SHUTDOWN, SOON, Server


class VersionStep(PhasedStep, ABC):
    """A step on brokers or controllers that are started through a symbolic link."""

    target: str
    """The brokers or controllers."""

    def takes(self) -> frozenset[NodeKind]:
        """Accept brokers and controllers."""
        return frozenset({"broker", "controller"})

    def places(self, site: Site) -> Iterator[tuple[Server, KafkaProcess]]:
        """Yield each server; raises StepError for other nodes, and for servers without a link in the inventory."""
        for node in site.nodes(self.target):
            process = _process(site, node)
            if process is None:
                raise StepError(f"{site.entry}: the target {self.target!r} names {node}; name brokers or controllers")
            if process.installation is None:
                raise StepError(
                    f"{site.entry}: the inventory has no `installation` for {node}; write `installation: "
                    "{link, versions}` for it, or in a lab: chaosk lab up --also VERSION"
                )
            yield Server(node, process), process

    def rolling(self, site: Site, change: Callable[[KafkaProcess], Command]) -> Iterator[Deed]:
        """Stop, wait until it is gone, change the link, start, wait until it serves; then the next server."""
        for server, process in self.places(site):
            yield Run(command=service.stop(process))
            yield server.gone(SHUTDOWN)
            yield Run(command=change(process))
            yield Run(command=service.start(process))
            yield from server.back()

    def former(self, site: Site) -> Iterator[tuple[Server, Fact]]:
        """Yield each server, and the fact that it runs from its link's original target."""
        for server, process in self.places(site):
            says = f"{server.name} runs its former version"
            yield server, Fact(says=says, query=versions.is_back(process), within=SOON)

    def holds(self, site: Site) -> Iterator[str]:
        """Yield the process, and the link, which other servers of the host may share."""
        for server, process in self.places(site):
            yield f"the process of {server.name}"
            if process.installation is not None:
                yield f"the link {process.installation.link} of {process.host}"


def _process(site: Site, node: Node) -> KafkaProcess | None:
    match node.kind:
        case "broker":
            return site.broker(node)
        case "controller":
            return site.controller(node)
        case _:
            return None
