"""Withdraw rights from clients while they work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from chaosk.core.errors import StepError
from chaosk.hosts.commands import brokertool
from chaosk.spec import principal
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.entity import Acl, Entity, Resource, Settings
from chaosk.steps._partitions import owned
from chaosk.steps._settings import HostSettled, told

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,248}$")]
Principal = Annotated[str, StringConstraints(pattern=r"^User:[A-Za-z0-9][A-Za-z0-9 ._@=,+-]{0,248}$")]
Operation = Literal["read", "write", "describe"]
THERE = "there"
"""The value of an existing ACL, and of a granted right."""
MEANT: dict[Resource, frozenset[str]] = {
    "topic": frozenset({"read", "write", "describe"}),
    "group": frozenset({"read", "describe"}),
    "transactional_id": frozenset({"write", "describe"}),
}
"""The operations that brokers check for each kind of resource."""


def _each_once(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    if len(set(operations)) < len(operations):
        msg = "the same operation twice; keep one of them"
        raise ValueError(msg)
    return operations


class DenyAccess(HostSettled):
    """Withdraw rights to a topic, a group or a ``transactional.id`` from clients, by ACLs that deny them.

    The operations are: write to a topic, read it, take part in a group (``read``), use a ``transactional.id``
    (``write``). A client without ``describe`` is not even told that the resource exists. From then on brokers refuse
    requests, over established connections too. If the resource has no ACL yet, one that allows everything to everyone
    is added beside: a resource with any ACL is closed to all others, whatever ``allow.everyone.if.no.acl.found`` is set
    to. The undo removes exactly the added ACLs.

    Kafka's own tool does it on the host of the broker with the lowest id, which keeps the undo. Before, the probes'
    login must have the rights. The step takes once every broker has the ACLs, and reports the rights of the probes'
    login as withdrawn; for a ``transactional.id`` brokers report ``describe`` alone. That login must not be chaosk's
    own or a super user: see [your own cluster](../own-cluster.md).
    """

    example: ClassVar[str] = """\
at: 10s
deny_access: {topic: orders, operations: [write]}
for: 30s
"""

    topic: str | None = None
    """The topic, one of the scenario's."""
    group: Id | None = None
    """Or a consumer group of one of the probes."""
    transactional_id: Id | None = None
    """Or a ``transactional.id`` of one of the probes."""
    operations: Annotated[
        tuple[Operation, ...], Field(strict=False, min_length=1, max_length=3), AfterValidator(_each_once)
    ]
    """The denied operations: ``read``, ``write``, ``describe``."""
    principal: Principal | None = None
    """The principal, as brokers call it, such as ``User:ann``; default: the probes' login."""

    def targets(self) -> tuple[str, ...]:
        """Return none: a right is of a user."""
        return ()

    @model_validator(mode="after")
    def _one_resource(self) -> DenyAccess:
        named = [kind for kind in MEANT if getattr(self, kind) is not None]
        if len(named) != 1:
            msg = "write exactly one of topic, group and transactional_id"
            raise ValueError(msg)
        if wrong := sorted(set(self.operations) - MEANT[named[0]]):
            msg = f"{', '.join(wrong)} means nothing for a {named[0]}; write {' or '.join(sorted(MEANT[named[0]]))}"
            raise ValueError(msg)
        return self

    def places(self, site: Site) -> Iterator[tuple[str, Settings]]:
        """Yield the ACLs of the resource and one host; raises StepError without a principal to deny them to."""
        if (why := brokertool.refused(site.inventory)) is not None:
            raise StepError(f"{site.entry}: {why}")
        values: dict[str, str | None] = {str(acl): THERE for acl in self._acls(site)}
        yield site.inventory.brokers[min(site.inventory.brokers)].host, Settings(of=self._of("acls"), values=values)

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """Yield all ACLs of the resource: the others decide whether everyone has to be allowed."""
        yield str(self._of("acls"))

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the topic is chaosk's, that the tool is installed, and that the probes have the rights."""
        if self.topic is not None:
            yield owned(self.topic)
        yield from self.suits(site)
        yield from self._rights(THERE)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Add the ACLs one after the other, the one for everyone first."""
        yield from self._changed(site, self._acls(site), back=False)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Remove the added ACLs, the one for everyone last."""
        yield from self._changed(site, self._acls(site)[::-1], back=True)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that every broker has the ACLs, and refuses the probes."""
        yield from HostSettled.verify(self, site)
        if self._whom(site) == principal.of_probes(site.inventory):
            yield from self._rights(None)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that every broker has the former ACLs, and allows the probes again."""
        yield from HostSettled.healed(self, site)
        yield from self._rights(THERE)

    def _changed(self, site: Site, acls: list[Acl], *, back: bool) -> Iterator[Deed]:
        for host, settings in self.places(site):
            former = site.former_of(settings).values
            for acl in acls:
                there = not back or former[str(acl)] is not None
                yield Run(command=brokertool.grant(site.inventory, host, settings.of, acl, there=there))

    def _acls(self, site: Site) -> list[Acl]:
        denied = [Acl(permission="deny", principal=self._whom(site), operation=each) for each in self.operations]
        if site.former.get(self._of("acls")):
            return denied
        return [Acl(permission="allow", principal=principal.EVERYBODY, operation="all"), *denied]

    def _rights(self, value: str | None) -> Iterator[Fact]:
        known = [each for each in self.operations if self.transactional_id is None or each == "describe"]
        if value is not None and not known:
            known = ["describe"]
        if known:
            yield told(Settings(of=self._of("rights"), values=dict.fromkeys(known, value)))

    def _whom(self, site: Site) -> str:
        probes = principal.of_probes(site.inventory)
        if (whom := self.principal or probes) is None:
            raise StepError(
                f"{site.entry}: probes come in with chaosk's own login, and without it chaosk could tell nothing; "
                "write a login of their own to `probe_client` in the inventory, or run it on a lab with `secure: true`"
            )
        if whom == principal.own(site.inventory):
            raise StepError(f"{site.entry}: {whom} is chaosk's own login, without which it could tell nothing")
        return whom

    def _of(self, kind: Literal["acls", "rights"]) -> Entity:
        named: dict[Resource, str | None] = {
            "topic": self.topic, "group": self.group, "transactional_id": self.transactional_id,
        }  # fmt: skip
        ((resource, name),) = ((key, each) for key, each in named.items() if each is not None)
        return Entity(kind=kind, resource=resource, name=name)
