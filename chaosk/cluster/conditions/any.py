"""Whether one of several conditions holds."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.conditions._combined import Combined


class AnyOf(Combined):
    """At least one of some conditions holds.

    One that holds settles it, whatever the others are. If none holds and one cannot be known, because nobody answers,
    neither can this.
    """

    spelling: ClassVar[str] = "any(CONDITION, …)"
    example: ClassVar[str] = "any(broker_up(0), broker_up(1))"
    settles: ClassVar[bool] = True
