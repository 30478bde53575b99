"""One lab as a value: its layout and everything derived from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from chaosk.cluster.wire import Endpoint
from chaosk.core.errors import LabError, UsageError
from chaosk.core.figures import counted
from chaosk.lab import installations, unit
from chaosk.lab import state as places
from chaosk.lab.mode import Mode, mode_of
from chaosk.lab.seating import Role, Seat
from chaosk.lab.service import Service
from chaosk.lab.state import LabState
from chaosk.spec.lab_layout import LabLayout


@dataclass(frozen=True, slots=True)
class Lab:
    """A layout and everything derived from it."""

    layout: LabLayout
    state: LabState
    mode: Mode
    seats: tuple[Seat, ...]
    services: tuple[Service, ...]

    @property
    def brokers(self) -> frozenset[int]:
        """The ids of all brokers."""
        return frozenset(one.number for one in self.services if one.role == "broker")

    @property
    def controllers(self) -> dict[int, Endpoint]:
        """The addresses of the quorum's controllers by node id; empty with ZooKeeper."""
        return self.mode.controllers(self.seats)

    @property
    def title(self) -> str:
        """A short description of the lab."""
        nouns: dict[Role, str] = {"broker": "broker", "zookeeper": "ZooKeeper node", "controller": "controller"}
        roles = Counter(one.role for one in self.services)
        servers = [counted(roles[role], noun) for role, noun in nouns.items() if roles[role]]
        kraft = "" if roles["zookeeper"] else " in KRaft mode"
        made_of = ", virtual machines" if self.layout.hosts == "vms" else ""
        also = f" (and {', '.join(self.layout.also)})" if self.layout.also else ""
        return f"{', '.join(servers)}, Kafka {self.layout.kafka}{also}{kraft}{made_of}"

    def seat(self, host: str) -> Seat:
        """Return a host by its name; raises UsageError if there is none."""
        for seat in self.seats:
            if seat.host == host:
                return seat
        hosts = ", ".join(seat.host for seat in self.seats)
        raise UsageError(f"lab {self.state.name} has no host {host!r}; its hosts are {hosts}")


def describe(layout: LabLayout, state: LabState) -> Lab:
    """Return the lab for ``layout``; raises UsageError if the layout is contradictory."""
    mode = mode_of(layout)
    mode.check(layout)
    installations.check(layout)
    seated = mode.seats(layout)
    services = mode.services(seated)
    if layout.hosts == "vms":
        services = tuple(map(unit.controlled, services))
    return Lab(layout, state, mode, seated, services)


def read(state: LabState) -> Lab | None:
    """Return the lab whose state is on disk, or None."""
    try:
        text = state.layout.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    return describe(LabLayout.model_validate_json(text), state)


def present(name: str) -> Lab:
    """Return the lab ``name``; raises LabError if it is not up."""
    found = read(places.of(name))
    if found is None:
        raise LabError(f"lab {name} is not up; do: chaosk lab up --name {name}")
    return found
