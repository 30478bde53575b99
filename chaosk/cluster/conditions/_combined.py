"""What the conditions made of others share: each part is asked, and one that cannot be known is neither yes nor no."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.errors import ChaoskError, ClusterError, UsageError
from chaosk.spec.contracts.condition import Answer, Ask, Condition, counting
from chaosk.spec.contracts.live import Live
from chaosk.spec.expression import parse_condition
from chaosk.spec.inventory import Inventory


class Combined(Condition):
    """Some conditions, all asked each time: one that counts does so from the beginning, whatever the others say."""

    settles: ClassVar[bool]
    """What one part has to answer so that this is the answer to the whole, whatever is not known of the others."""

    of: Annotated[tuple[str, ...], Field(min_length=1)]
    """The conditions."""

    def nested(self) -> tuple[str, ...]:
        """All of them."""
        return self.of

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask each once; raises ClusterError if what is not known of some of them may decide."""
        return self._judge({text: parse_condition(text).ask for text in self.of}, live, inventory)

    def from_now(self, live: Live) -> Ask:  # noqa: ARG002 - each begins by itself, when it is first known
        """Each counts from when it was first known."""
        asks = {text: counting(parse_condition(text)) for text in self.of}
        return lambda later, inventory: self._judge(asks, later, inventory)

    def _judge(self, asks: dict[str, Ask], live: Live, inventory: Inventory) -> Answer:
        told = {text: _told(ask, live, inventory) for text, ask in asks.items()}
        seen = "; ".join(f"{text}: {_spoken(each)}" for text, each in told.items())
        holds = [each.holds if isinstance(each, Answer) else None for each in told.values()]
        if self.settles in holds:
            return Answer(holds=self.settles, seen=seen)
        if None in holds:
            raise ClusterError(seen)
        return Answer(holds=not self.settles, seen=seen)


def _told(ask: Ask, live: Live, inventory: Inventory) -> Answer | ChaoskError:
    """What one part answers, or why it cannot be known; raises UsageError for what makes no sense on that cluster."""
    try:
        return ask(live, inventory)
    except UsageError:
        raise
    except ChaoskError as error:
        return error


def _spoken(told: Answer | ChaoskError) -> str:
    if isinstance(told, Answer):
        return f"{'yes' if told.holds else 'no'}, {told.seen}"
    return f"not known, {told}"
