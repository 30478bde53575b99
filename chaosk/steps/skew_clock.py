"""Move the wall clock of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from chaosk.core.errors import StepError
from chaosk.core.units import Duration, Share
from chaosk.hosts.commands import reversible
from chaosk.spec.contracts.step import Fact, Site
from chaosk.spec.inventory import ScriptService
from chaosk.steps._load_steps import ppm
from chaosk.steps._per_host import PerHostStep
from chaosk.steps._reversible_steps import Change, ReversibleStep

FELT = 30.0
"""Time-out in seconds until a drift is seen: at one per cent it takes ten to reach a tenth of a second."""


class SkewClock(ReversibleStep, PerHostStep):
    """Set the wall clock of hosts forward or back, in one jump as by a wrong time server, or as a growing drift.

    Only for hosts with their own clock. Containers, which share the clock of their machine, and the machine that runs
    chaosk are refused; the host compares both boot ids again right before it sets the clock. Refused also if chrony,
    ntpd, systemd-timesyncd or a guest agent may set the clock. It takes once the wall clock is that far from its former
    course, measured by the time since boot; a drift, which moves in steps about a second apart, once it has reached a
    tenth of a second. A drift checks its lease once a second, and ends with it. The undo sets the clock back to its
    former course, to some hundredths of a second, or a second on a busy host, even if another program has set it
    meanwhile.
    """

    harmless: ClassVar[bool] = True
    example: ClassVar[str] = """\
at: 10s
skew_clock: {target: "host(leader(orders, 0))", offset: 1h}
for: 30s
"""

    offset: Annotated[Duration, Field(ge=1.0)] | None = None
    """The distance, at once; this or ``drift``."""
    drift: Annotated[Share, Field(ge=0.01, le=0.2)] | None = None
    """The share of elapsed time by which the clock is too fast or too slow; this or ``offset``."""
    direction: Literal["forward", "back"] = "forward"
    """``forward``: the host's time is later than the real one."""

    @model_validator(mode="after")
    def _one_of_the_two(self) -> SkewClock:
        if (self.offset is None) == (self.drift is None):
            msg = "write exactly one of offset and drift"
            raise ValueError(msg)
        return self

    def holds(self, site: Site) -> Iterator[str]:
        """Yield the clock."""
        for host in self.hosts(site):
            yield f"the clock of {host}"

    def suits(self, site: Site) -> Iterator[Fact]:
        """Raise StepError if a process is identified only by the age of its pid file, which a moved clock distorts."""
        for host in self.hosts(site):
            for server in site.inventory.processes(host):
                if isinstance(server.service, ScriptService) and server.config is None:
                    raise StepError(
                        f"{site.entry}: the process in {server.service.pid_file} on {host} is identified only by the "
                        "file's age, which depends on the clock; write the `config` of that process into the inventory"
                    )
        yield from ()

    def made(self, site: Site) -> Iterator[Change]:
        """Yield the movement of each clock; a drift is verified once it has reached a tenth of a second."""
        sign = "+" if self.direction == "forward" else "-"
        far = f"{self.offset:g} s" if self.drift is None else f"{self.drift * 100:g} % of the time that passes"
        for host in self.hosts(site):
            yield Change(
                reversible.clock(host, site.mark(), self._by()),
                fits=f"{host} has its own clock, and no program sets it",
                stands=f"the clock of {host} is off by {sign}{far}",
                gone=f"the clock of {host} is put back",
                within=0.0 if self.drift is None else FELT,
                steady=self.drift is None,
            )

    def _by(self) -> str:
        """Return the movement in the syntax of the script; negative is backwards."""
        sign = "" if self.direction == "forward" else "-"
        if self.drift is not None:
            return f"{sign}{ppm(self.drift)}"
        return f"{sign}{round((self.offset or 0.0) * 1000)}"
