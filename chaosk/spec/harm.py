"""Harm of a fault to a cluster, as data: nodes that are away and connections that are cut while it lasts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from chaosk.core.model import Model
from chaosk.spec.contracts.target import Node, servers
from chaosk.spec.inventory import Inventory

Nodes = Annotated[tuple[Node, ...], Field(strict=False)]


class Harm(Model):
    """Harm at one moment. Nodes are brokers, ZooKeeper nodes and controllers."""

    away: Nodes = ()
    """Nodes that serve no client: dead, paused, or cut off from all others."""
    severed: Annotated[tuple[Annotated[tuple[Node, Node], Field(strict=False)], ...], Field(strict=False)] = ()
    """Pairs of nodes that cannot communicate in at least one direction."""
    wiped: Nodes = ()
    """Nodes whose records are gone: records without another replica are lost."""


def servers_of(inventory: Inventory, nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Return the servers among ``nodes``, on hosts among them, and of listeners among them; each once."""
    wanted = tuple(nodes)
    listening = {node.id.rpartition("/")[2] for node in wanted if node.kind == "listener"}
    hosts = {node.id for node in wanted if node.kind == "host"}
    return tuple(
        one
        for one in servers(inventory)
        if one in wanted or one.host in hosts or (one.kind == "broker" and one.id in listening)
    )
