"""Use up memory of hosts."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from chaosk.core.units import Share, Size
from chaosk.hosts.commands import reversible
from chaosk.steps._load_steps import LoadStep, ppm


class EatMemory(LoadStep):
    """Use up memory of a host, so that its page cache shrinks and other processes may be swapped.

    It takes once a process has the memory and has touched all of it. Refused if less than 128 MiB would stay available.
    If memory runs out all the same, the kernel kills that process first, and never the timer of the lease. The process
    checks its lease once a second, and ends with it.
    """

    kind: ClassVar[reversible.Kind] = "memory"
    what: ClassVar[str] = "memory"
    within: ClassVar[float] = 60.0
    example: ClassVar[str] = """\
at: 10s
eat_memory: {target: "leader(orders, 0)", size: 512MiB}
for: 30s
"""

    size: Annotated[Size, Field(ge=1024)] | None = None
    """The amount; this or ``share``."""
    share: Annotated[Share, Field(gt=0.0)] | None = None
    """The amount as a share of the host's total memory; this or ``size``."""

    @model_validator(mode="after")
    def _one_of_the_two(self) -> EatMemory:
        if (self.size is None) == (self.share is None):
            msg = "write exactly one of size and share"
            raise ValueError(msg)
        return self

    def much(self) -> str:
        """Return the amount in KiB, or the share of the memory."""
        return str(self.size // 1024) if self.size is not None else ppm(self.share or 0.0)
