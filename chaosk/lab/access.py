"""Access to a running lab: a shell on a host, the log of a service."""

from __future__ import annotations

from chaosk.core.errors import LabError, UsageError
from chaosk.lab import kind_selection, lab, ssh_files
from chaosk.lab import state as places
from chaosk.lab.lab import Lab
from chaosk.lab.seating import Seat


def shell(name: str, host: str) -> list[str]:
    """Return the command that logs in to ``host`` as ops, with the lab's own key and known hosts alone."""
    present = _lab(name)
    seat = _seat(present, host)
    return ssh_files.client(present.state.directory, seat.address)


def log(name: str, host: str, role: str, lines: int) -> str:
    """Return the last ``lines`` of the log of the ``broker``, ``controller`` or ``zookeeper`` on ``host``.

    Raises UsageError if the host has no such service, LabError if the lab is not up.
    """
    present = _lab(name)
    seat = _seat(present, host)
    for service in present.services:
        if (service.host, service.role) == (seat.host, role):
            return kind_selection.kind_of(present).read_log(seat.host, service.log, lines)
    raise UsageError(f"{host} has no {role}; see: chaosk lab status --name {name}")


def _lab(name: str) -> Lab:
    present = lab.read(places.of(name))
    if present is None:
        raise LabError(f"lab {name} is not up; do: chaosk lab up --name {name}")
    return present


def _seat(present: Lab, host: str) -> Seat:
    for seat in present.seats:
        if seat.host == host:
            return seat
    hosts = [seat.host for seat in present.seats]
    raise UsageError(f"lab {present.state.name} has no host {host!r}; its hosts are {', '.join(hosts)}")
