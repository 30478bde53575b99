"""Whether several conditions hold at the same time."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.conditions._combined import Combined


class AllOf(Combined):
    """Each of some conditions holds, asked one right after the other.

    One that does not hold settles it. If none of them says no and one cannot be known, because nobody answers, neither
    can this.
    """

    spelling: ClassVar[str] = "all(CONDITION, …)"
    example: ClassVar[str] = "all(isr_full(orders), broker_up(1))"
    settles: ClassVar[bool] = False
