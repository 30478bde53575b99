"""Take memory away from hosts."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from chaosk.core.units import Share, Size
from chaosk.hosts.commands import load
from chaosk.steps._load_steps import LoadStep, ppm


class EatMemory(LoadStep):
    """Take memory of a host, so that its page cache shrinks and others may have to swap.

    It takes once a process has it, all of it touched. Refused where less than 128 MiB would stay available. Should
    memory run out all the same, the kernel kills that process first, and never what keeps the lease. It asks once a
    second for its lease, and ends with it.
    """

    kind: ClassVar[load.Kind] = "memory"
    what: ClassVar[str] = "memory"
    within: ClassVar[float] = 60.0
    example: ClassVar[str] = """\
at: 10s
eat_memory: {target: "leader(orders, 0)", size: 512MiB}
for: 30s
"""

    size: Annotated[Size, Field(ge=1024)] | None = None
    """How much; this or ``share``."""
    share: Annotated[Share, Field(gt=0.0)] | None = None
    """How much of all the memory that the host has; this or ``size``."""

    @model_validator(mode="after")
    def _one_of_the_two(self) -> EatMemory:
        if (self.size is None) == (self.share is None):
            msg = "write exactly one of size and share"
            raise ValueError(msg)
        return self

    def much(self) -> str:
        """KiB, or a share of the memory."""
        return str(self.size // 1024) if self.size is not None else ppm(self.share or 0.0)
