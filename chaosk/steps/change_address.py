"""Move a broker to another address, as its DNS name shows to probes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.core.errors import StepError
from chaosk.hosts.commands import reversible
from chaosk.hosts.commands.reversible import Reversible
from chaosk.hosts.firewall import commands
from chaosk.hosts.firewall.party import SELF
from chaosk.hosts.firewall.rules import ARRIVING, LEAVING, Rule
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Deed, Fact, Names, Run, Site, Step
from chaosk.spec.contracts.target import NodeKind
from chaosk.spec.fields import Ip
from chaosk.spec.inventory import Listener
from chaosk.steps._server import Server, servers

_WITHIN = 10.0  # seconds until lookups show a change


class ChangeAddress(Step):
    """Move a broker to another address: its name resolves to it, and the old address is refused.

    The host gets the new address beside its own ones, and the broker's name resolves to it for the probes. The host's
    packet filter refuses chaosk's machine the broker's client ports at every other address, and resets established
    connections. For probes this looks like a broker that returns on another machine; combine it with a kill of the
    broker. The watcher and conditions follow at once. Health checks keep the addresses that they resolved at their
    start. Other clients and other brokers see no change: the names that they know still resolve to the old address.

    Refused if clients know the broker by address, if it shares its name with another broker, if the new address is in
    use or in no network of the host, and if the broker does not serve its client ports at all addresses.
    """

    example: ClassVar[str] = """\
at: 10s
change_address: {target: "leader(orders, 0)", address: 192.0.2.99}
for: 30s
"""
    lasting: ClassVar[bool] = True
    names: ClassVar[bool] = True

    target: str
    """The broker; a target that names several is refused."""
    address: Ip
    """The new address: unused, and in a network of the broker's host."""

    def takes(self) -> frozenset[NodeKind]:
        """Accept brokers."""
        return frozenset({"broker"})

    def broker(self, site: Site) -> Server:
        """Return the broker; raises StepError if there are several."""
        every = servers(site, "broker", self.target)
        if len(every) != 1:
            raise StepError(
                f"{site.entry}: {self.target!r} names {len(every)} brokers, and only one can have {self.address}; "
                "name one, like leader(orders, 0)"
            )
        return every[0]

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same for all
        """Yield the names, and the address."""
        yield "the names that probes know"
        yield f"the address {self.address}"

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that the host can take the address and the broker serves there; raises StepError without a name."""
        for server in servers(site, "broker", self.target):
            _check_names(site, server)
            query = self._address(site, server).fits
            yield Fact(says=f"{server.name} can have the address {self.address}", query=query)

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the names resolve, and that nothing of this entry exists."""
        yield Fact(says="the brokers' names are known", query="names_known")
        yield from self._gone(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Add the address, make the name resolve to it, then refuse every other address."""
        server = self.broker(site)
        host, names = server.process.host, _names(site, server)
        which, by = commands.cut(site.run_id, site.entry), site.inventory.hosts[host].firewall
        yield Run(command=self._address(site, server).put)
        yield Names(action="move", names=names, to=self.address)
        yield Run(command=commands.install(host, which, self._rules(site, server), "reject", by))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the host has the address, that probes resolve to it, and that others are refused."""
        server = self.broker(site)
        host = server.process.host
        which, by = commands.cut(site.run_id, site.entry), site.inventory.hosts[host].firewall
        yield Fact(says=f"{host} has {self.address}", query=self._address(site, server).stands)
        query = commands.standing(host, which, self._rules(site, server), "reject", by)
        yield Fact(says=f"{host} refuses it at every other address", query=query)
        at = f"broker_at({server.node.id}, {self.address})"
        yield Fact(says=f"probes find {server.name} at {self.address}", query=at, within=_WITHIN)

    def watch(self, site: Site) -> Iterator[Fact]:
        """Check the same; of the rules only that they are in place."""
        host = self.broker(site).process.host
        which, by = commands.cut(site.run_id, site.entry), site.inventory.hosts[host].firewall
        for fact in super().watch(site):
            refuses = isinstance(fact.query, Command) and fact.query.stdin is not None
            yield fact.model_copy(update={"query": commands.lasts(host, which, by)}) if refuses else fact

    def undo(self, site: Site) -> Iterator[Deed]:
        """Remove the rules, restore the names, remove the address."""
        server = self.broker(site)
        host = server.process.host
        which, by = commands.cut(site.run_id, site.entry), site.inventory.hosts[host].firewall
        yield Run(command=commands.remove(host, which, by))
        yield Names(action="restore")
        yield Run(command=self._address(site, server).lift)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that nothing of this entry is left, and that the names resolve."""
        yield from self._gone(site)
        yield Fact(says="the brokers' names are known", query="names_known", within=_WITHIN)

    def _gone(self, site: Site) -> Iterator[Fact]:
        server = self.broker(site)
        host = server.process.host
        which, by = commands.cut(site.run_id, site.entry), site.inventory.hosts[host].firewall
        yield Fact(says=f"no rule of it is on {host}", query=commands.gone(host, which, by))
        yield Fact(says=f"{host} has no address of chaosk's", query=self._address(site, server).gone)

    def _address(self, site: Site, server: Server) -> Reversible:
        return reversible.address(server.process.host, site.mark(), self.address, _ports(site, server))

    def _rules(self, site: Site, server: Server) -> tuple[Rule, ...]:
        """Return rules between chaosk's machine and the client ports: pass the new address, stop the others."""
        every = [
            Rule(side, peer=SELF, port=("own", port)) for side in (ARRIVING, LEAVING) for port in _ports(site, server)
        ]
        through = [Rule(one.side, one.peer, own=self.address, port=one.port, stop=False) for one in every]
        return (*through, *every)


def _doors(site: Site, server: Server) -> tuple[Listener, ...]:
    return tuple(at for at in site.broker(server.node).listeners.values() if at.clients)


def _ports(site: Site, server: Server) -> tuple[int, ...]:
    return tuple(sorted({at.port for at in _doors(site, server)}))


def _names(site: Site, server: Server) -> tuple[str, ...]:
    """Return the names of the broker's client listeners."""
    return tuple(dict.fromkeys(at.address for at in _doors(site, server)))


def _check_names(site: Site, server: Server) -> None:
    """Raise StepError if clients know the broker by an address, or if another broker has the same name."""
    found = set(_names(site, server))
    if not found or not found <= set(site.inventory.names()):
        raise StepError(f"{site.entry}: clients know {server.name} by its address; only a name can lead elsewhere")
    for number, other in site.inventory.brokers.items():
        if str(number) != server.node.id and found & {at.address for at in other.listeners.values()}:
            raise StepError(
                f"{site.entry}: broker {number} has the name of {server.name}, which would lead away as well"
            )
