"""What a condition is: a question to the live cluster with yes or no and the reason."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from chaosk.core.model import Model
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import Needs


class Answer(Model):
    """Whether a condition holds, and what was seen."""

    holds: bool
    seen: str
    """What was seen, for logs and messages, like ``orders-3: ISR 0,1 of 0,1,2``."""
    answered: bool = True
    """Whether somebody answered: else it does not hold because nobody could be asked."""
    waited: bool = False
    """Whether it had to be asked for more than once."""


Ask = Callable[[Live, Inventory], Answer]
"""Asks once, and never waits."""


class Condition(Model, ABC):
    """A condition; its fields are its arguments in the order they are written."""

    spelling: ClassVar[str]
    """How it is written, like ``isr_full(TOPIC)``."""
    example: ClassVar[str]
    needs: ClassVar[Needs | None] = None
    """The mode of clusters that it is for, if not for any."""

    def nested(self) -> tuple[str, ...]:
        """The conditions among its arguments, like that in ``not(broker_up(2))``: checked before a run."""
        return ()

    @abstractmethod
    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask once; never waits. Raises ChaoskError if the cluster cannot tell."""

    def from_now(self, live: Live) -> Ask:  # noqa: ARG002 - for conditions that count
        """What asks again and again from now on; a condition that counts begins to. Raises as ``ask`` does."""
        return self.ask


def counting(condition: Condition) -> Ask:
    """What asks a condition again and again, counting from when it was first known: before that no count can begin."""
    begun: list[Ask] = []

    def ask(live: Live, inventory: Inventory) -> Answer:
        if not begun:
            begun.append(condition.from_now(live))
        return begun[0](live, inventory)

    return ask
