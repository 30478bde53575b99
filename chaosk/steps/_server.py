"""What brokers and ZooKeeper nodes have in common as targets of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from chaosk import service
from chaosk.errors import StepError
from chaosk.inventory import ServerProcess
from chaosk.steps._contract import Deed, Fact, Run, Site
from chaosk.targets._contract import Node
from chaosk.transport.command import Command

Role = Literal["broker", "zookeeper"]

SOON = 20.0
"""Seconds until a process that was signalled shows it."""
SHUTDOWN = 120.0
"""Seconds until a process that was asked to stop is gone: a controlled shutdown moves leadership first."""
STARTUP = 90.0
"""Seconds until a process that was started serves: after a kill, a broker first recovers its log."""


@dataclass(frozen=True, slots=True)
class Server:
    """A broker or ZooKeeper node to act on."""

    role: Role
    node: Node
    process: ServerProcess

    @property
    def name(self) -> str:
        """For messages, like ``broker 2 on node3``."""
        return str(self.node)

    def running(self, within: float = 0.0) -> Fact:
        """The process is there."""
        return Fact(says=f"{self.name} runs", query=service.is_running(self.process), within=within)

    def gone(self, within: float = 0.0) -> Fact:
        """The process is not there, and none has taken its place."""
        return Fact(says=f"{self.name} is gone", query=service.is_gone(self.process), within=within)

    def frozen(self, within: float = 0.0) -> Fact:
        """The process is there, stopped by a signal."""
        return Fact(says=f"{self.name} is frozen", query=service.is_frozen(self.process), within=within)

    def awake(self, within: float = 0.0) -> Fact:
        """The process is there, and not stopped by a signal."""
        return Fact(says=f"{self.name} runs, not frozen", query=service.is_awake(self.process), within=within)

    def serving(self, within: float = STARTUP) -> Fact:
        """The cluster sees it, and it answers."""
        return Fact(says=f"{self.name} serves", query=f"{self.role}_up({self.node.id})", within=within)

    def back(self) -> Iterator[Fact]:
        """The process runs, not frozen, and serves."""
        yield self.awake(SOON)
        yield self.serving()


def servers(site: Site, role: Role, target: str) -> tuple[Server, ...]:
    """What a target names, in order; raises StepError where that is not of the kind the step acts on."""
    return tuple(_server(site, role, target, node) for node in site.nodes(target))


def each(every: tuple[Server, ...], command: Callable[[ServerProcess], Command]) -> Iterator[Deed]:
    """One command for each server."""
    for server in every:
        yield Run(command=command(server.process))


def _server(site: Site, role: Role, target: str, node: Node) -> Server:
    if node.kind != role:
        wanted = "brokers, like leader(orders, 0)" if role == "broker" else "ZooKeeper nodes, like zookeeper leader"
        raise StepError(f"{site.entry}: the target {target!r} names {node}; name {wanted}")
    process = site.broker(node) if role == "broker" else site.zookeeper(node)
    return Server(role, node, process)
