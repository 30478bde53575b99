"""A condition does not hold."""  # noqa: N999 - the file has the name of the condition

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.condition import Answer, Ask, Condition, counting
from chaosk.spec.contracts.live import Live
from chaosk.spec.expression import parse_condition
from chaosk.spec.inventory import Inventory


class Not(Condition):
    """A condition was asked and does not hold; without an answer it is unknown, and so is the result.

    For some conditions no answer is an answer: a broker that does not answer is not up, and ``not(broker_up(2))``
    holds.
    """

    spelling: ClassVar[str] = "not(CONDITION)"
    example: ClassVar[str] = "not(preferred_leaders(orders))"

    of: str
    """The condition."""

    def nested(self) -> tuple[str, ...]:
        """The condition."""
        return (self.of,)

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask it once; raises the same errors."""
        return _opposite(parse_condition(self.of).ask(live, inventory))

    def from_now(self, live: Live) -> Ask:  # noqa: ARG002 - it starts with its first answer
        """It counts from its first known answer."""
        ask = counting(parse_condition(self.of))
        return lambda later, inventory: _opposite(ask(later, inventory))


def _opposite(answer: Answer) -> Answer:
    return Answer(holds=not answer.holds, seen=answer.seen)
