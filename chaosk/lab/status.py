"""The status of a lab, as a value."""

from __future__ import annotations

from functools import partial

from chaosk.core.model import Model
from chaosk.lab import health, kind_selection, lab, privilege
from chaosk.lab import state as places
from chaosk.lab.lab import Lab


class ServiceStatus(Model):
    """One broker, controller or ZooKeeper node."""

    role: str
    """``broker``, ``controller`` or ``zookeeper``."""
    number: int
    """Node id, or ``myid``."""
    state: str | None
    """The state that it reports; None if it does not answer or is not in the cluster."""


class HostStatus(Model):
    """One host."""

    name: str
    address: str
    runs: bool
    """Whether its processes exist."""
    ssh: bool
    """Whether its SSH server answers."""
    services: tuple[ServiceStatus, ...]


class LabStatus(Model):
    """The present status of a lab."""

    name: str
    up: bool
    """Whether a lab of that name exists."""
    healthy: bool
    """Whether every host and every service works."""
    kafka: str | None = None
    namespace: str | None = None
    inventory: str | None = None
    hosts: tuple[HostStatus, ...] = ()


def status(name: str) -> LabStatus:
    """Ask every host and service of the lab ``name``; a lab that is not up is an answer, not an error."""
    if not privilege.is_root():
        answer = privilege.as_root(["status", "--name", name, "--json"], lambda _line: None)
        return LabStatus.model_validate_json(answer)
    present = lab.read(places.of(name))
    if present is None or not kind_selection.kind_of(present).alive():
        return LabStatus(name=name, up=False, healthy=False)
    hosts = _ask(present)
    whole = all(host.ssh and all(one.state for one in host.services) for host in hosts)
    written = present.state.inventory.exists()
    return LabStatus(
        name=name,
        up=True,
        healthy=whole and written,
        kafka=present.layout.kafka,
        namespace=present.state.namespace,
        inventory=str(present.state.inventory) if written else None,
        hosts=hosts,
    )


def _ask(present: Lab) -> tuple[HostStatus, ...]:
    kind = kind_selection.kind_of(present)
    namespace = present.state.namespace
    ssh = health.in_lab(namespace, [partial(health.ssh_answers, seat.address) for seat in present.seats])
    asked = [partial(health.service_state, one, present.brokers, present.controllers) for one in present.services]
    states = health.in_lab(namespace, asked)
    answers = list(zip(present.services, states, strict=True))
    return tuple(
        HostStatus(
            name=seat.host,
            address=seat.address,
            runs=kind.runs(seat.host),
            ssh=greets,
            services=tuple(
                ServiceStatus(role=one.role, number=one.number, state=state)
                for one, state in answers
                if one.host == seat.host
            ),
        )
        for seat, greets in zip(present.seats, ssh, strict=True)
    )
