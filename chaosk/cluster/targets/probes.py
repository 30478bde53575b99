"""All probes."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class AllProbes(Target):
    """Every probe: one node, because they all share the machine that chaosk runs on; its id is ``*``."""

    spelling: ClassVar[str] = "probes"
    example: ClassVar[str] = "probes"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"probe"})
    static: ClassVar[bool] = True

    def resolve(self, scene: Scene) -> tuple[Node, ...]:  # noqa: ARG002 - the same in every scene
        """One node that stands for all of them."""
        return (Node(kind="probe", id="*"),)
