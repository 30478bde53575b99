"""ZooKeeper nodes by id or by role."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import StringConstraints

from chaosk.cluster.targets._nodes import zookeeper_node
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target
from chaosk.spec.quorum import RequiredMode

_ROLES = {"leader": ("leader", "standalone"), "follower": ("follower",), "followers": ("follower",)}
"""The modes that ``srvr`` reports, by role; a standalone node is its own leader."""


class OneZooKeeper(Target):
    """A ZooKeeper node by its id, or by its current role.

    ``leader`` and ``follower`` name one node (the follower with the lowest id), ``followers`` all of them.
    """

    spelling: ClassVar[str] = "zookeeper ID|leader|follower|followers"
    example: ClassVar[str] = "zookeeper leader"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"zookeeper"})
    needs: ClassVar[RequiredMode | None] = RequiredMode("zookeeper", "write controller, or controller followers")

    node: Annotated[str, StringConstraints(pattern=r"^(leader|follower|followers|0|[1-9][0-9]{0,8})$")]
    """Its id, ``leader``, ``follower`` or ``followers``."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return those nodes, ascending; empty if none has that role now. Raises UsageError for an unknown id."""
        if self.node.isdigit():
            return (zookeeper_node(scene.inventory, int(self.node)),)
        modes = scene.live.zookeeper_modes()
        found = [node for node in sorted(modes) if modes[node] in _ROLES[self.node]]
        wanted = found if self.node == "followers" else found[:1]
        return tuple(zookeeper_node(scene.inventory, node) for node in wanted)
