"""Some nodes of a set, drawn at random."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.errors import ClusterError
from chaosk.spec.contracts.target import Node, Scene, Target
from chaosk.spec.expression import parse_target


class RandomNodes(Target):
    """A number of nodes of a set, drawn at random; the same seed draws the same nodes from the same set."""

    spelling: ClassVar[str] = "random(COUNT[, TARGET])"
    example: ClassVar[str] = "random(1, followers(orders, 0))"

    count: Annotated[int, Field(ge=1)]
    """Number of nodes."""
    of: str = "brokers"
    """The set to draw from, a target."""

    def nested(self) -> tuple[str, ...]:
        """The set to draw from."""
        return (self.of,)

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return the drawn nodes, in the order of the set; raises ClusterError if the set is too small."""
        nodes = parse_target(self.of).resolve(scene)
        if len(nodes) < self.count:
            raise ClusterError(f"random({self.count}, {self.of}): that set has {len(nodes)} nodes at the moment")
        drawn = scene.chance.sample(range(len(nodes)), self.count)
        return tuple(nodes[place] for place in sorted(drawn))
