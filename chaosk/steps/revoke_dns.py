"""Take the names of brokers away from probes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Deed, Fact, Names, Site, Step
from chaosk.spec.harm import Harm

_WITHIN = 10.0  # seconds until what was written is what lookups find


class RevokeDns(Step):
    """Have no name looked up by probes: a name server that denies everything, or one that does not answer.

    Connections that stand go on: a client looks a name up when it connects, and librdkafka keeps what it found for a
    second (`broker.address.ttl`). So it hurts who has to connect meanwhile, after a kill or as a new probe. Hosts,
    watcher and audit go on with the names they have, health checks with the addresses that they found when they began.
    Nothing of the machine is changed: the run's probes have files of their own for /etc/hosts, /etc/nsswitch.conf and
    /etc/resolv.conf, in namespaces that end with them.
    Refused where clients know brokers by address, and without root where users may not make namespaces.
    """

    example: ClassVar[str] = """\
at: 10s
revoke_dns: {how: refused}
for: 10s
"""
    lasting: ClassVar[bool] = True
    names: ClassVar[bool] = True

    how: Literal["refused", "silent"] = "refused"
    """``refused``: there is no such name, at once; ``silent``: no answer, so that every lookup takes its time limit."""

    def targets(self) -> tuple[str, ...]:
        """All probes."""
        return ("probes",)

    def harm(self, site: Site) -> Iterator[Harm]:  # noqa: ARG002 - the same everywhere
        """None: servers go on."""
        yield from ()

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """The names."""
        yield "the names that probes know"

    def suits(self, site: Site) -> Iterator[Fact]:
        """Raises StepError where there is no name to take away."""
        if not site.inventory.names():
            raise StepError(f"{site.entry}: clients know every broker by its address; there is no name to take away")
        yield from ()

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """They are known."""
        yield Fact(says="the brokers' names are known", query="names_known")

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """Take them away."""
        yield Names(action="refuse" if self.how == "refused" else "silence")

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """None is known."""
        yield Fact(says="no broker's name is known", query="names_unknown", within=_WITHIN)

    def undo(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """Give them back."""
        yield Names(action="restore")

    def healed(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """They are known."""
        yield Fact(says="the brokers' names are known", query="names_known", within=_WITHIN)
