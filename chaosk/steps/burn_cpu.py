"""Keep the processors of hosts busy."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from chaosk.core.units import Share
from chaosk.hosts.commands import reversible
from chaosk.steps._load_steps import LoadStep, ppm


class BurnCpu(LoadStep):
    """Keep a host's processors busy with loops, each of which wants a whole processor.

    It takes once all loops run and get processor time. At most four loops are started for each processor. Every loop
    checks its lease once a second, and ends with it.
    """

    kind: ClassVar[reversible.Kind] = "cpu"
    what: ClassVar[str] = "processors"
    within: ClassVar[float] = 10.0
    example: ClassVar[str] = """\
at: 10s
burn_cpu: {target: "leader(orders, 0)", share: 100 %}
for: 30s
"""

    cores: Annotated[int, Field(ge=1, le=4096)] | None = None
    """The number of loops; this or ``share``."""
    share: Annotated[Share, Field(gt=0.0)] | None = None
    """The number of loops as a share of the host's processors, rounded up; this or ``cores``."""

    @model_validator(mode="after")
    def _one_of_the_two(self) -> BurnCpu:
        if (self.cores is None) == (self.share is None):
            msg = "write exactly one of cores and share"
            raise ValueError(msg)
        return self

    def much(self) -> str:
        """Return the number of loops, or the share of the processors."""
        return str(self.cores) if self.cores is not None else ppm(self.share or 0.0)
