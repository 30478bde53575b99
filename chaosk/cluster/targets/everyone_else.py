"""Everything outside of the other group of a cut."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class EveryoneElse(Target):
    """Every address outside of the other group: hosts, clients, and all others."""

    spelling: ClassVar[str] = "everyone else"
    example: ClassVar[str] = "everyone else"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"everyone_else"})
    static: ClassVar[bool] = True

    def resolve(self, scene: Scene) -> tuple[Node, ...]:  # noqa: ARG002 - the same in every scene
        """Return one node for all of them; the cut's step knows the other group."""
        return (Node(kind="everyone_else", id=""),)
