"""All probes."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class AllProbes(Target):
    """Every probe: one node with the id ``*``, because all share the machine that runs chaosk."""

    spelling: ClassVar[str] = "probes"
    example: ClassVar[str] = "probes"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"probe"})
    static: ClassVar[bool] = True

    def resolve(self, scene: Scene) -> tuple[Node, ...]:  # noqa: ARG002 - the same in every scene
        """Return one node for all of them."""
        return (Node(kind="probe", id="*"),)
