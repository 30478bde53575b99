"""Let time pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.core.units import Duration
from chaosk.spec.contracts.step import Deed, Fact, Pause, Site, Step


class Wait(Step):
    """Let time pass: the next entry without a trigger starts when it is over."""

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
wait: {duration: 10s}
"""

    duration: Duration
    """Duration of the wait."""

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """Pause."""
        yield Pause(seconds=self.duration)

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Verify nothing."""
        yield from ()
