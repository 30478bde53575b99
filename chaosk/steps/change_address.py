"""Give a broker another address, as its name tells probes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.core.errors import StepError
from chaosk.hosts.commands import address as addresses
from chaosk.hosts.firewall import commands
from chaosk.hosts.firewall.party import SELF
from chaosk.hosts.firewall.rules import ARRIVING, LEAVING, Rule
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Deed, Fact, Names, Run, Site, Step
from chaosk.spec.contracts.target import NodeKind
from chaosk.spec.fields import Ip
from chaosk.spec.inventory import Listener
from chaosk.steps._server import Server, servers

_WITHIN = 10.0  # seconds until what was written is what lookups find


class ChangeAddress(Step):
    """Have a broker reached at another address, to which its name leads from now on, and no more at its old one.

    Its host gets the address beside those that it has, the name by which probes know the broker leads there, and its
    host's packet filter refuses chaosk's machine the broker's client ports at every other address: connections that
    stand are reset. So it is to probes what it is to all clients when a broker comes back on another machine; best
    together with a kill of the broker. Watcher and conditions follow at once; health checks go on at the address that
    they found when they began. Other clients and other brokers notice nothing: the names that they know do not change.
    Refused where clients know the broker by address or it shares its name, where somebody has the new address or the
    host is in no network with it, and where the broker does not serve its client ports at all addresses.
    """

    example: ClassVar[str] = """\
at: 10s
change_address: {target: "leader(orders, 0)", address: 192.0.2.99}
for: 30s
"""
    lasting: ClassVar[bool] = True
    names: ClassVar[bool] = True

    target: str
    """Which broker; a target that names several is refused."""
    address: Ip
    """The new address: nobody has it, and it lies in a network of the broker's host."""

    def takes(self) -> frozenset[NodeKind]:
        """Brokers."""
        return frozenset({"broker"})

    def targets(self) -> tuple[str, ...]:
        """The one target."""
        return (self.target,)

    def broker(self, site: Site) -> Server:
        """The one broker; raises StepError where there are several."""
        every = servers(site, "broker", self.target)
        if len(every) != 1:
            raise StepError(
                f"{site.entry}: {self.target!r} names {len(every)} brokers, and only one can have {self.address}; "
                "name one, like leader(orders, 0)"
            )
        return every[0]

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same for all
        """The names, and the address."""
        yield "the names that probes know"
        yield f"the address {self.address}"

    def suits(self, site: Site) -> Iterator[Fact]:
        """The host can have the address, the broker serves there; raises StepError where there is no name to move."""
        for server in servers(site, "broker", self.target):
            _check_names(site, server)
            query = addresses.fits(server.process.host, _id(site), self.address, _ports(site, server))
            yield Fact(says=f"{server.name} can have the address {self.address}", query=query)

    def before(self, site: Site) -> Iterator[Fact]:
        """The names are known, nothing of it is there."""
        yield Fact(says="the brokers' names are known", query="names_known")
        yield from self._gone(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Have the address, then its name lead there, then refuse every other."""
        server = self.broker(site)
        host, names = server.process.host, _names(site, server)
        which, by = commands.cut(site.run_id, site.entry), site.inventory.hosts[host].firewall
        yield Run(command=addresses.add(host, _id(site), self.address))
        yield Names(action="move", names=names, to=self.address)
        yield Run(command=commands.install(host, which, self._rules(site, server), "reject", by))

    def verify(self, site: Site) -> Iterator[Fact]:
        """The host has it, probes find it there, and every other is refused."""
        server = self.broker(site)
        host = server.process.host
        which, by = commands.cut(site.run_id, site.entry), site.inventory.hosts[host].firewall
        yield Fact(says=f"{host} has {self.address}", query=addresses.there(host, _id(site), self.address))
        query = commands.standing(host, which, self._rules(site, server), "reject", by)
        yield Fact(says=f"{host} refuses it at every other address", query=query)
        at = f"broker_at({server.node.id}, {self.address})"
        yield Fact(says=f"probes find {server.name} at {self.address}", query=at, within=_WITHIN)

    def watch(self, site: Site) -> Iterator[Fact]:
        """The same, but for the rules one by one."""
        host = self.broker(site).process.host
        which, by = commands.cut(site.run_id, site.entry), site.inventory.hosts[host].firewall
        for fact in super().watch(site):
            refuses = isinstance(fact.query, Command) and fact.query.stdin is not None
            yield fact.model_copy(update={"query": commands.lasts(host, which, by)}) if refuses else fact

    def undo(self, site: Site) -> Iterator[Deed]:
        """Refuse nothing, have the names lead where they did, take the address away."""
        host = self.broker(site).process.host
        which, by = commands.cut(site.run_id, site.entry), site.inventory.hosts[host].firewall
        yield Run(command=commands.remove(host, which, by))
        yield Names(action="restore")
        yield Run(command=addresses.remove(host, _id(site), self.address))

    def healed(self, site: Site) -> Iterator[Fact]:
        """Nothing of it is there, the names are known."""
        yield from self._gone(site)
        yield Fact(says="the brokers' names are known", query="names_known", within=_WITHIN)

    def _gone(self, site: Site) -> Iterator[Fact]:
        host = self.broker(site).process.host
        which, by = commands.cut(site.run_id, site.entry), site.inventory.hosts[host].firewall
        yield Fact(says=f"no rule of it is on {host}", query=commands.gone(host, which, by))
        query = addresses.is_gone(host, _id(site), self.address)
        yield Fact(says=f"{host} has no address of chaosk's", query=query)

    def _rules(self, site: Site, server: Server) -> tuple[Rule, ...]:
        """Between chaosk's machine and the client ports: let through what is for the new address, stop the rest."""
        every = [
            Rule(side, peer=SELF, port=("own", port)) for side in (ARRIVING, LEAVING) for port in _ports(site, server)
        ]
        through = [Rule(one.side, one.peer, own=self.address, port=one.port, stop=False) for one in every]
        return (*through, *every)


def _id(site: Site) -> str:
    return addresses.address_id(site.run_id, site.entry)


def _doors(site: Site, server: Server) -> tuple[Listener, ...]:
    return tuple(at for at in site.broker(server.node).listeners.values() if at.clients)


def _ports(site: Site, server: Server) -> tuple[int, ...]:
    return tuple(sorted({at.port for at in _doors(site, server)}))


def _names(site: Site, server: Server) -> tuple[str, ...]:
    """The names of its listeners for clients."""
    return tuple(dict.fromkeys(at.address for at in _doors(site, server)))


def _check_names(site: Site, server: Server) -> None:
    """Raise StepError where one of them is an address, or another broker's as well."""
    found = set(_names(site, server))
    if not found or not found <= set(site.inventory.names()):
        raise StepError(f"{site.entry}: clients know {server.name} by its address; only a name can lead elsewhere")
    for number, other in site.inventory.brokers.items():
        if str(number) != server.node.id and found & {at.address for at in other.listeners.values()}:
            raise StepError(
                f"{site.entry}: broker {number} has the name of {server.name}, which would lead away as well"
            )
