"""Make brokers' names unknown to probes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Fact, Names, Site
from chaosk.steps._phases import PhasedStep, Phases

_WITHIN = 10.0  # seconds until lookups show a change


class RevokeDns(PhasedStep):
    """Make all name lookups of probes fail: by a name server that knows no name, or one that does not answer.

    Established connections go on: a client looks a name up when it connects, and librdkafka caches the result for a
    second (`broker.address.ttl`). So the fault affects clients that have to connect meanwhile, after a kill or as new
    probes. Hosts, watcher and audit keep their names, and health checks the addresses that they resolved at their
    start. The machine itself is not changed: the run's probes have their own /etc/hosts, /etc/nsswitch.conf and
    /etc/resolv.conf, in namespaces that end with them.

    Refused if clients know brokers by address, and without root if users may not create namespaces.
    """

    example: ClassVar[str] = """\
at: 10s
revoke_dns: {how: refused}
for: 10s
"""
    lasting: ClassVar[bool] = True
    harmless: ClassVar[bool] = True
    names: ClassVar[bool] = True

    how: Literal["refused", "silent"] = "refused"
    """``refused``: no name exists, reported at once; ``silent``: no answer, so that every lookup times out."""

    def targets(self) -> tuple[str, ...]:
        """Return all probes."""
        return ("probes",)

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """Yield the names."""
        yield "the names that probes know"

    def suits(self, site: Site) -> Iterator[Fact]:
        """Raise StepError if clients use no names."""
        if not site.inventory.names():
            raise StepError(f"{site.entry}: clients know every broker by its address; there is no name to take away")
        yield from ()

    def phases(self, site: Site) -> Phases:  # noqa: ARG002 - the same everywhere
        """Make the lookups fail; the undo restores the names."""
        known = Fact(says="the brokers' names are known", query="names_known")
        return Phases(
            before=[known],
            inject=[Names(action="refuse" if self.how == "refused" else "silence")],
            verify=[Fact(says="no broker's name is known", query="names_unknown", within=_WITHIN)],
            undo=[Names(action="restore")],
            healed=[known.model_copy(update={"within": _WITHIN})],
        )
