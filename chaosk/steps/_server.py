"""Brokers, controllers and ZooKeeper nodes as targets of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from chaosk.core.errors import StepError
from chaosk.hosts.commands import looks, service, supervisor
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.contracts.target import Node, voters
from chaosk.spec.contracts.target import servers as every_server
from chaosk.spec.inventory import Broker, ServerProcess

Role = Literal["broker", "controller", "zookeeper"]

SOON = 20.0
"""Time-out in seconds until a signal has its effect on a process."""
SHUTDOWN = 120.0
"""Time-out in seconds until a stopped process is gone: a controlled shutdown moves leadership first."""
STARTUP = 90.0
"""Time-out in seconds until a started process serves: after a kill, a broker first recovers its log."""


_STARTED_AGAIN = (
    "disable the supervisor that starts it, stop the server instead of killing it, or write restart: supervised"
)
_WOKEN = "find what sends it SIGCONT or starts it again: a watchdog, a supervisor or a person"


@dataclass(frozen=True, slots=True)
class Server:
    """A targeted broker, controller or ZooKeeper node."""

    node: Node
    process: ServerProcess

    @property
    def name(self) -> str:
        """The node in messages, such as ``broker 2 on node3``."""
        return str(self.node)

    def itself(self, *folders: str) -> Fact:
        """Expect the process to have its ports, its node id and the lock of each of these data directories."""
        number = None if self.node.kind == "zookeeper" else int(self.node.id)
        query = looks.is_server(self.process, number, *folders)
        return Fact(says=f"{self.name} is the process that the inventory calls so", query=query)

    def running(self, within: float = 0.0) -> Fact:
        """Expect the process to run."""
        return Fact(says=f"{self.name} runs", query=service.is_running(self.process), within=within)

    def gone(self, within: float = 0.0) -> Fact:
        """Expect the process to be gone, without a successor."""
        return Fact(
            says=f"{self.name} is gone", query=service.is_gone(self.process), within=within, remedy=_STARTED_AGAIN
        )

    def frozen(self, within: float = 0.0) -> Fact:
        """Expect the process to be stopped by a signal."""
        return Fact(says=f"{self.name} is frozen", query=service.is_frozen(self.process), within=within, remedy=_WOKEN)

    def awake(self, within: float = 0.0) -> Fact:
        """Expect the process to run, not stopped by a signal."""
        return Fact(says=f"{self.name} runs, not frozen", query=service.is_awake(self.process), within=within)

    def serving(self, within: float = STARTUP) -> Iterator[Fact]:
        """Expect the cluster to list the server and the server to answer; in both roles if its process has two."""
        for role in self.roles:
            as_what = "" if role == self.node.kind else f" as a {role}"
            query = f"{role}_up({self.node.id})"
            yield Fact(says=f"{self.name} serves{as_what}", query=query, within=within, steady=False)

    def away(self, within: float = 0.0) -> Iterator[Fact]:
        """Expect the cluster not to list the server: no process answers in its place as a member of the cluster.

        Not checked for controllers: the quorum lists one that is gone until its time-out.
        """
        if self.node.kind != "controller":
            query = f"not({self.node.kind}_up({self.node.id}))"
            yield Fact(
                says=f"{self.node.kind} {self.node.id} does not serve",
                query=query,
                within=within,
                remedy=_STARTED_AGAIN,
            )

    @property
    def roles(self) -> tuple[str, ...]:
        """Return the roles of the process: a broker can be a controller as well."""
        combined = isinstance(self.process, Broker) and self.process.controller_listener is not None
        return (self.node.kind, "controller") if combined else (self.node.kind,)

    def back(self) -> Iterator[Fact]:
        """Expect the process to run, not frozen, and to serve."""
        yield self.awake(SOON)
        yield from self.serving()


def servers(site: Site, role: Role | None, target: str) -> tuple[Server, ...]:
    """Return the targeted servers in order; raises StepError for a node that has not the role, or none at all."""
    return tuple(_server(site, role, target, node) for node in site.nodes(target))


def on_hosts(site: Site, hosts: tuple[str, ...]) -> tuple[Server, ...]:
    """Return all servers on hosts: ZooKeeper nodes and controllers first, since brokers need them."""
    ways = _ways(site)
    nodes = [node for node in every_server(site.inventory) if node.host in hosts]
    return tuple(Server(node, ways[kind](node)) for kind in ways for node in nodes if node.kind == kind)


def beside(site: Site, every: tuple[Server, ...]) -> tuple[Server, ...]:
    """Return the other servers on the same hosts, those that brokers need first."""
    taken = {server.node for server in every}
    hosts = tuple(dict.fromkeys(server.process.host for server in every))
    return tuple(server for server in on_hosts(site, hosts) if server.node not in taken)


def crash(every: tuple[Server, ...], lease: str) -> Iterator[Deed]:
    """Kill the servers, and prevent restarts until a start: their data are changed meanwhile."""
    for server in every:
        if (held := supervisor.hold_around(server.process, lease)) is not None:
            yield Run(command=held)
    yield from each(every, service.kill)
    yield from each(every, service.stop)


def each(every: Iterable[Server], command: Callable[[ServerProcess], Command]) -> list[Deed]:
    """Run one command for each server."""
    return [Run(command=command(server.process)) for server in every]


def back(every: Iterable[Server]) -> list[Fact]:
    """Expect each server to run, not frozen, and to serve."""
    return [fact for server in every for fact in server.back()]


def _server(site: Site, role: Role | None, target: str, node: Node) -> Server:
    if role == "controller" and node in voters(site.inventory):
        return Server(node, site.controller(node))
    ways = _ways(site)
    if node.kind not in ways or role not in {None, node.kind}:
        wanted = _WANTED.values() if role is None else (_WANTED[role],)
        raise StepError(f"{site.entry}: the target {target!r} names {node}; name {', or '.join(wanted)}")
    return Server(node, ways[node.kind](node))


def _ways(site: Site) -> Mapping[str, Callable[[Node], ServerProcess]]:
    """Map the kinds of servers to their entries in the inventory, those that brokers need first."""
    return {"zookeeper": site.zookeeper, "controller": site.controller, "broker": site.broker}


_WANTED: dict[Role, str] = {
    "broker": "brokers, like leader(orders, 0)",
    "controller": "controllers of a KRaft quorum, like controller",
    "zookeeper": "ZooKeeper nodes, like zookeeper leader",
}
