"""All of several conditions hold at the same time."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.conditions._combined import Combined


class AllOf(Combined):
    """Each of several conditions holds; they are asked one right after the other.

    One that does not hold decides the result. If none is definitely false, and one is unknown because no answer came,
    the result is unknown.
    """

    spelling: ClassVar[str] = "all(CONDITION, …)"
    example: ClassVar[str] = "all(isr_full(orders), broker_up(1))"
    settles: ClassVar[bool] = False
