"""The largest minority of a set, drawn at random."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.target import Node, Scene, Target
from chaosk.spec.expression import parse_target


class Minority(Target):
    """The largest minority of a set (1 of 3, 2 of 5), drawn at random like ``random``."""

    spelling: ClassVar[str] = "minority[(TARGET)]"
    example: ClassVar[str] = "minority(zookeepers)"

    of: str = "brokers"
    """The set to draw from, a target."""

    def nested(self) -> tuple[str, ...]:
        """The set to draw from."""
        return (self.of,)

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return the drawn nodes, in the order of the set; empty if the set has two nodes or fewer."""
        nodes = parse_target(self.of).resolve(scene)
        drawn = scene.chance.sample(range(len(nodes)), max(0, (len(nodes) - 1) // 2))
        return tuple(nodes[place] for place in sorted(drawn))
