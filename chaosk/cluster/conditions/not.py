"""Whether a condition does not hold."""  # noqa: N999 - the file has the name of the condition

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.condition import Answer, Ask, Condition, counting
from chaosk.spec.contracts.live import Live
from chaosk.spec.expression import parse_condition
from chaosk.spec.inventory import Inventory


class Not(Condition):
    """A condition was asked and does not hold: where nobody answers that is not known, so neither does this hold.

    Some conditions are about who answers: a broker that does not is not up, and ``not(broker_up(2))`` holds.
    """

    spelling: ClassVar[str] = "not(CONDITION)"
    example: ClassVar[str] = "not(preferred_leaders(orders))"

    of: str
    """The condition."""

    def nested(self) -> tuple[str, ...]:
        """The one."""
        return (self.of,)

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask it once; raises what it raises."""
        return _opposite(parse_condition(self.of).ask(live, inventory))

    def from_now(self, live: Live) -> Ask:  # noqa: ARG002 - it begins when it is first known
        """It counts from when it was first known."""
        ask = counting(parse_condition(self.of))
        return lambda later, inventory: _opposite(ask(later, inventory))


def _opposite(answer: Answer) -> Answer:
    return Answer(holds=not answer.holds, seen=answer.seen)
