"""The coordinator of a transactional id."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.targets._nodes import broker_nodes
from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class TransactionCoordinator(Target):
    """The current transaction coordinator of a ``transactional.id``.

    The id is that of a probe's ``transaction: {id: …}``; the default for a probe ``NAME`` is ``chaosk-NAME``.
    """

    spelling: ClassVar[str] = "transaction_coordinator(TRANSACTIONAL_ID)"
    example: ClassVar[str] = "transaction_coordinator(chaosk-writer)"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"broker"})

    transactional_id: str
    """The ``transactional.id``."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return that broker; empty while the id has no coordinator."""
        named = scene.live.transaction_coordinator(self.transactional_id)
        return () if named is None else broker_nodes(scene.inventory, (named,))
