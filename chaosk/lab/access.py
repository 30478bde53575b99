"""Access to a running lab: a shell on a host, the log of a service."""

from __future__ import annotations

from chaosk.core.errors import UsageError
from chaosk.lab import kind_selection, lab, ssh_files


def shell(name: str, host: str) -> list[str]:
    """Return the command that logs in to ``host`` as ops, with the lab's own key and known hosts alone."""
    present = lab.present(name)
    return ssh_files.client(present.state.directory, present.seat(host).address)


def log(name: str, host: str, role: str, lines: int) -> str:
    """Return the last ``lines`` of the log of the ``broker``, ``controller`` or ``zookeeper`` on ``host``.

    Raises UsageError if the host has no such service, LabError if the lab is not up.
    """
    present = lab.present(name)
    seat = present.seat(host)
    for service in present.services:
        if (service.host, service.role) == (seat.host, role):
            return kind_selection.kind_of(present).read_log(seat.host, service.log, lines)
    raise UsageError(f"{host} has no {role}; see: chaosk lab status --name {name}")
