"""Replace a broker's certificate by one that clients do not trust."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import StringConstraints

from chaosk.core.errors import StepError
from chaosk.hosts.certificate import UntrustedCertificate, untrusted_certificate
from chaosk.hosts.commands import brokertool
from chaosk.spec.contracts.step import Deed, Fact, Run, Site, Step
from chaosk.spec.contracts.target import NodeKind
from chaosk.spec.entity import Entity, Settings
from chaosk.spec.inventory import Inventory
from chaosk.steps._settings import told

TAKEN_OVER = 45.0
"""Time-out in seconds until every network thread of a broker presents a new certificate."""
ListenerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]


class SwapCertificate(Step):
    """Make brokers present a certificate that no client trusts, without a restart; the undo restores their own.

    Established connections go on. A new connection to such a broker fails at its certificate, whether the client was
    started meanwhile or has lost its connection. The certificate has the subject, names and dates of the broker's own,
    but is self-signed, as after a renewal by the wrong authority.

    It is stored beside the present one on the broker's host. Kafka's own tool sets `listener.name.NAME.ssl.keystore.*`
    of that broker (KIP-226), and restores the former settings. The host keeps the undo, and trusts exactly that
    certificate for it. The step takes once a TLS handshake with the listener shows the new certificate, and is healed
    once it shows the former one. The keystores have to be PEM, or without a password: Kafka refuses others.
    """

    example: ClassVar[str] = """\
at: 10s
swap_certificate: {target: broker 1, certificate: stranger}
for: 30s
"""
    lasting: ClassVar[bool] = True

    target: str
    """The brokers."""
    certificate: Literal["stranger"] = "stranger"
    """The new certificate: ``stranger``, a self-signed one."""
    listener: ListenerName | None = None
    """The listener, by its name in the inventory; default: the first one for clients."""

    def takes(self) -> frozenset[NodeKind]:
        """Accept brokers."""
        return frozenset({"broker"})

    def refused(self, inventory: Inventory, host: str) -> str | None:  # noqa: ARG002 - the same for all hosts
        """Refuse clusters that Kafka's tool could not log in to, and those whose clients do not use TLS."""
        if not str(inventory.client.get("security.protocol", "")).lower().endswith("ssl"):
            return f"clients of {inventory.name} come in without TLS, so its brokers show no certificate"
        return brokertool.refused(inventory)

    def changes(self, site: Site) -> Iterator[Settings]:
        """Yield the settings of each broker, and the certificate of its listener."""
        for broker, listener in self._where(site):
            yield _of_keystore(broker, listener)
            yield _shown(broker, listener, None)

    def holds(self, site: Site) -> Iterator[str]:
        """Yield each of the certificates."""
        yield from (str(_shown(broker, listener, None).of) for broker, listener in self._where(site))

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that the hosts have the tool."""
        for broker, _ in self._where(site):
            host = site.inventory.brokers[broker].host
            yield Fact(says=f"Kafka's own tool is on {host}", query=brokertool.fits(site.inventory, host))

    def inject(self, site: Site) -> Iterator[Deed]:
        """Run one command for each broker."""
        for broker, listener in self._where(site):
            pem, mark = self._other(site, broker, listener).pem, site.mark(str(broker))
            yield Run(
                command=brokertool.have_certificate(site.inventory, broker, brokertool.keystore(listener), mark, pem)
            )

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the listeners present the new certificate."""
        for broker, listener in self._where(site):
            yield _told(_shown(broker, listener, self._other(site, broker, listener).sha256))

    def undo(self, site: Site) -> Iterator[Deed]:
        """Restore the former settings."""
        for broker, listener in self._where(site):
            former = site.former_of(_of_keystore(broker, listener))
            yield Run(command=brokertool.have_former(site.inventory, broker, site.mark(str(broker)), former))

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the listeners present their former certificate, with the former settings."""
        for one in self.changes(site):
            yield _told(site.former_of(one))

    def _where(self, site: Site) -> Iterator[tuple[int, str]]:
        for node in site.nodes(self.target):
            if node.kind != "broker":
                raise StepError(f"{site.entry}: {node} is no broker, and shows no certificate; name brokers")
            listeners = site.broker(node).listeners
            name = self.listener or next((name for name, at in listeners.items() if at.clients), None)
            if name is None or name not in listeners:
                raise StepError(f"{site.entry}: {node} has no listener {name or 'for clients'} in the inventory")
            if (why := self.refused(site.inventory, site.broker(node).host)) is not None:
                raise StepError(f"{site.entry}: {why}")
            yield int(node.id), name

    def _other(self, site: Site, broker: int, listener: str) -> UntrustedCertificate:
        shown = site.former.get(_shown(broker, listener, None).of, {})
        if "certificate" not in shown:  # in a plan without a cluster
            return UntrustedCertificate(pem="", sha256="")
        return untrusted_certificate(shown["certificate"], f"{site.run_id}/{site.entry}/{broker}")


def _told(settings: Settings) -> Fact:
    """Expect these settings, within the time that each network thread of a busy broker needs."""
    return told(settings).model_copy(update={"within": TAKEN_OVER})


def _of_keystore(broker: int, listener: str) -> Settings:
    names = (f"{brokertool.keystore(listener)}.location", f"{brokertool.keystore(listener)}.type")
    return Settings(of=Entity(kind="broker", name=str(broker)), values=dict.fromkeys(names))


def _shown(broker: int, listener: str, sha256: str | None) -> Settings:
    return Settings(of=Entity(kind="certificate", name=str(broker), listener=listener), values={"sha256": sha256})
