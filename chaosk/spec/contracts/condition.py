"""Contract of conditions: a question to the live cluster, answered by yes or no with the evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from chaosk.core.model import Model
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import RequiredMode


class Answer(Model):
    """The answer to a condition, with its evidence."""

    holds: bool
    seen: str
    """The evidence, for logs and messages, like ``orders-3: ISR 0,1 of 0,1,2``."""
    answered: bool = True
    """False if nothing could be asked: the condition does not hold, because its state is unknown."""
    waited: bool = False
    """True if it had to be asked more than once."""


Ask = Callable[[Live, Inventory], Answer]
"""Asks once, without waiting."""


class Condition(Model, ABC):
    """A condition; its fields are its arguments in the order in which they are written."""

    spelling: ClassVar[str]
    """The written form, like ``isr_full(TOPIC)``."""
    example: ClassVar[str]
    needs: ClassVar[RequiredMode | None] = None
    """The only cluster mode in which it makes sense, if there is one."""

    def nested(self) -> tuple[str, ...]:
        """The conditions among its arguments, like that in ``not(broker_up(2))``; they are checked before a run."""
        return ()

    @abstractmethod
    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask once, without waiting. Raises ChaoskError if the cluster does not answer."""

    def from_now(self, live: Live) -> Ask:  # noqa: ARG002 - for conditions that count
        """Return the repeated question, which starts to count now if the condition counts. Raises as ``ask`` does."""
        return self.ask


def counting(condition: Condition) -> Ask:
    """Return a repeated question that starts to count at its first successful answer."""
    begun: list[Ask] = []

    def ask(live: Live, inventory: Inventory) -> Answer:
        if not begun:
            begun.append(condition.from_now(live))
        return begun[0](live, inventory)

    return ask
