"""The controller, and in KRaft the others of its quorum."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import StringConstraints

from chaosk.cluster.targets._nodes import broker_nodes, controller_node
from chaosk.core.errors import ClusterError, UsageError
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target, controller_kinds, voters
from chaosk.spec.inventory import Inventory


class ControllerTarget(Target):
    """The current controller of the cluster: the broker elected through ZooKeeper, or the leader of the KRaft quorum.

    In KRaft also a controller by its id, ``follower`` (the follower with the lowest id) or ``followers`` (all).
    """

    spelling: ClassVar[str] = "controller [ID|leader|follower|followers]"
    example: ClassVar[str] = "controller"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker", "controller"})

    node: Annotated[str, StringConstraints(pattern=r"^(leader|follower|followers|0|[1-9][0-9]{0,8})$")] = "leader"
    """Its id, ``leader``, ``follower`` or ``followers``."""

    def kinds_on(self, inventory: Inventory) -> frozenset[NodeKind]:
        """Return controllers, or brokers, or both if the quorum has both."""
        return controller_kinds(inventory)

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return those nodes, ascending; empty if none has that role now.

        Raises UsageError for an unknown id, and with ZooKeeper for any other value than ``leader``.
        """
        inventory = scene.inventory
        if self.node != "leader" and not inventory.kraft:
            raise UsageError(
                f"controller {self.node}: with ZooKeeper there is one controller, a broker; write controller"
            )
        if self.node.isdigit():
            return (controller_node(inventory, int(self.node)),)
        if self.node == "leader":
            named = scene.live.controller()
            return () if named is None else _known(scene, named)
        roles = scene.live.controller_roles()
        found = [node for number in sorted(roles) if roles[number] == "follower" for node in _known(scene, number)]
        return tuple(found if self.node == "followers" else found[:1])


def _known(scene: Scene, number: int) -> tuple[Node, ...]:
    """Return the node that the cluster named; raises ClusterError if it is not in the inventory."""
    if not scene.inventory.kraft:
        return broker_nodes(scene.inventory, (number,))
    found = tuple(node for node in voters(scene.inventory) if node.id == str(number))
    if not found:
        raise ClusterError(f"the cluster names controller {number}, and the inventory has no such controller; add it")
    return found
