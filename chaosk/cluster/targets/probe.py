"""A probe by name."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.target import Node, NodeKind, Scene, Target


class OneProbe(Target):
    """A probe of the scenario; for a cut it stands for the machine that runs chaosk, as the hosts see it."""

    spelling: ClassVar[str] = "probe NAME"
    example: ClassVar[str] = "probe writer"
    kinds: ClassVar[frozenset[NodeKind]] = frozenset({"probe"})
    static: ClassVar[bool] = True

    probe: str
    """The probe's name in the scenario."""

    def resolve(self, scene: Scene) -> tuple[Node, ...]:  # noqa: ARG002 - the same in every scene
        """Return that probe."""
        return (Node(kind="probe", id=self.probe),)
