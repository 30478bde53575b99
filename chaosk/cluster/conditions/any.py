"""At least one of several conditions holds."""

from __future__ import annotations

from typing import ClassVar

from chaosk.cluster.conditions._combined import Combined


class AnyOf(Combined):
    """At least one of several conditions holds.

    One that holds decides the result. If none holds, and one is unknown because no answer came, the result is unknown.
    """

    spelling: ClassVar[str] = "any(CONDITION, …)"
    example: ClassVar[str] = "any(broker_up(0), broker_up(1))"
    settles: ClassVar[bool] = True
