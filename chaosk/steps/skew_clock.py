"""Move the wall clock of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from chaosk.core.errors import StepError
from chaosk.core.units import Duration, Share
from chaosk.hosts.commands import wallclock
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.inventory import ScriptService
from chaosk.steps._load_steps import ppm
from chaosk.steps._per_host import PerHostStep

FELT = 30.0
"""Seconds until a drift is seen at the latest: at one per cent it takes ten to be off by a tenth of a second."""


class SkewClock(PerHostStep):
    """Set the wall clock of hosts forward or back, in one jump as a wrong time server does, or more and more.

    Only where a host has a clock of its own: refused in containers, which share that of the machine around them, and on
    the machine that chaosk itself runs on; the host holds the boot ids of both against each other again in the moment
    in which it sets the clock. Refused where chrony, ntpd, systemd-timesyncd or a guest's tools may set it as well. It
    takes once the wall clock is as far from where it was, measured by the time since boot; a drift, which goes by steps
    about a second apart, once that is a tenth of a second at least. A drift asks once a second for its lease, and ends
    with it. The undo puts it where it would be by now, to some hundredths of a second, on a busy host to a second,
    whoever else has set it meanwhile.
    """

    example: ClassVar[str] = """\
at: 10s
skew_clock: {target: "host(leader(orders, 0))", offset: 1h}
for: 30s
"""

    offset: Annotated[Duration, Field(ge=1.0)] | None = None
    """How far, at once; this or ``drift``."""
    drift: Annotated[Share, Field(ge=0.01, le=0.2)] | None = None
    """How far more and more: the part of the time that passes by which the clock is too fast, or too slow; this or
    ``offset``."""
    direction: Literal["forward", "back"] = "forward"
    """``forward``: the host believes it is later than it is."""

    @model_validator(mode="after")
    def _one_of_the_two(self) -> SkewClock:
        if (self.offset is None) == (self.drift is None):
            msg = "write exactly one of offset and drift"
            raise ValueError(msg)
        return self

    def holds(self, site: Site) -> Iterator[str]:
        """The clock."""
        for host in self.hosts(site):
            yield f"the clock of {host}"

    def suits(self, site: Site) -> Iterator[Fact]:
        """Raises StepError where only its age says whose a pid file is: it does not while a clock moves."""
        for host in self.hosts(site):
            for server in site.inventory.processes(host):
                if isinstance(server.service, ScriptService) and server.config is None:
                    raise StepError(
                        f"{site.entry}: whose process {server.service.pid_file} on {host} names is told by the file's "
                        "age, which the clock decides; say in the inventory which `config` that process has"
                    )
        yield from ()

    def before(self, site: Site) -> Iterator[Fact]:
        """It is the host's alone, and nobody sets it."""
        for host in self.hosts(site):
            query = wallclock.fits(host, _id(site), self._by())
            yield Fact(says=f"{host} has a clock of its own, which nobody sets", query=query)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Set it, host after host."""
        for host in self.hosts(site):
            yield Run(command=wallclock.move(host, _id(site), self._by()))

    def verify(self, site: Site) -> Iterator[Fact]:
        """It is off by as much."""
        sign = "+" if self.direction == "forward" else "-"
        for host in self.hosts(site):
            query = wallclock.is_moved(host, _id(site), self._by())
            if self.drift is not None:
                says = f"the clock of {host} is off by {sign}{self.drift * 100:g} % of the time that passes"
                yield Fact(says=says, query=query, within=FELT, steady=False)
            else:
                yield Fact(says=f"the clock of {host} is off by {sign}{self.offset:g} s", query=query)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Put it right."""
        for host in self.hosts(site):
            yield Run(command=wallclock.restore(host, _id(site)))

    def healed(self, site: Site) -> Iterator[Fact]:
        """It is right again."""
        for host in self.hosts(site):
            yield Fact(says=f"the clock of {host} is put back", query=wallclock.is_restored(host, _id(site)))

    def _by(self) -> str:
        """As the script reads it; below 0 is back."""
        sign = "" if self.direction == "forward" else "-"
        if self.drift is not None:
            return f"{sign}{ppm(self.drift)}"
        return f"{sign}{round((self.offset or 0.0) * 1000)}"


def _id(site: Site) -> str:
    return wallclock.clock_id(site.run_id, site.entry)
