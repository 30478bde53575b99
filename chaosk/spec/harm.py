"""What a fault takes from a cluster, as data: who is away while it lasts, and who does not reach whom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from chaosk.core.model import Model
from chaosk.spec.contracts.target import Node, servers
from chaosk.spec.inventory import Inventory

Nodes = Annotated[tuple[Node, ...], Field(strict=False)]


class Harm(Model):
    """What is harmed at one moment. Nodes are brokers, ZooKeeper nodes and controllers."""

    away: Nodes = ()
    """Who serves nobody: dead, frozen, or cut off from everybody."""
    severed: Annotated[tuple[Annotated[tuple[Node, Node], Field(strict=False)], ...], Field(strict=False)] = ()
    """Who does not reach whom, in at least one direction."""
    wiped: Nodes = ()
    """Whose records are gone: what nobody else has is lost."""


def servers_of(inventory: Inventory, nodes: Iterable[Node]) -> tuple[Node, ...]:
    """The servers that ``nodes`` are, that run on them, or whose listeners they are; each once."""
    wanted = tuple(nodes)
    listening = {node.id.rpartition("/")[2] for node in wanted if node.kind == "listener"}
    hosts = {node.id for node in wanted if node.kind == "host"}
    return tuple(
        one
        for one in servers(inventory)
        if one in wanted or one.host in hosts or (one.kind == "broker" and one.id in listening)
    )
