"""Common base of combined conditions: every part is asked, and a part without an answer is unknown."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.errors import ChaoskError, ClusterError, UsageError
from chaosk.spec.contracts.condition import Answer, Ask, Condition, counting
from chaosk.spec.contracts.live import Live
from chaosk.spec.expression import parse_condition
from chaosk.spec.inventory import Inventory


class Combined(Condition):
    """A combination of conditions, all asked each time, so that each counting condition counts from the beginning."""

    settles: ClassVar[bool]
    """The answer of one part that decides the whole, even if other parts are unknown."""

    of: Annotated[tuple[str, ...], Field(min_length=1)]
    """The conditions."""

    def nested(self) -> tuple[str, ...]:
        """All of them."""
        return self.of

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Ask each once; raises ClusterError if an unknown part could decide the result."""
        return self._judge({text: parse_condition(text).ask for text in self.of}, live, inventory)

    def from_now(self, live: Live) -> Ask:  # noqa: ARG002 - each part starts with its first answer
        """Each part counts from its first known answer."""
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
    """Return one part's answer, or why it is unknown; raises UsageError if it makes no sense on that cluster."""
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
