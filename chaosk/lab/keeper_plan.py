"""The commands of a lab's keeper: make the bridge, start the hosts. Pure."""

from __future__ import annotations

from chaosk.lab import host_plan
from chaosk.lab.host_plan import Argv, Machine
from chaosk.lab.seating import OUTSIDE, Seat
from chaosk.lab.state import LabState

DISK_SIZE = "2g"
"""Size of each host's disk; memory is used only for written data."""


def start(state: LabState, machine: Machine) -> Argv:
    """Return the command that becomes the keeper, inside the lab's network namespace."""
    return [
        *("nsenter", f"--net={state.namespace_file}"),
        *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", machine.propagation),
        *(machine.python, "-I", "-S", machine.init, "keeper", str(state.keeper("json"))),
    ]


def plan(state: LabState, seats: tuple[Seat, ...], machine: Machine) -> dict[str, object]:
    """Return the input of ``init.py keeper``."""
    return {
        "pid": str(state.keeper("pid")),
        "control": str(state.control),
        "hosts": str(state.hosts),
        "commands": [["mount", "-t", "proc", "proc", "/proc"], *bridge()],
        "start": {seat.host: host_plan.unshare(machine, state.host(seat.host) / "host.json") for seat in seats},
        "disk": {seat.host: host_plan.disk(seat, state.host(seat.host), DISK_SIZE) for seat in seats},
    }


def bridge() -> list[Argv]:
    """Return the commands that make the bridge of all hosts. Its address is chaosk's own; it has no route beyond."""
    return [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "link", "add", host_plan.BRIDGE, "type", "bridge", "forward_delay", "0"],
        ["ip", "address", "add", f"{OUTSIDE}/24", "dev", host_plan.BRIDGE],
        ["ip", "link", "set", host_plan.BRIDGE, "up"],
    ]
