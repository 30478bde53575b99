"""What the keeper of a lab does: the bridge, and how each host is started. Pure."""

from __future__ import annotations

from chaosk.lab import host_plan
from chaosk.lab.host_plan import Argv, Machine
from chaosk.lab.seating import OUTSIDE, Seat
from chaosk.lab.state import LabState

DISK_SIZE = "2g"
"""Room on each host; memory is used only for what is written."""


def start(state: LabState, machine: Machine) -> Argv:
    """The command that becomes the keeper, inside the lab's network namespace."""
    return [
        *("nsenter", f"--net={state.namespace_file}"),
        *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", machine.propagation),
        *(machine.python, "-I", "-S", machine.init, "keeper", str(state.keeper("json"))),
    ]


def plan(state: LabState, seats: tuple[Seat, ...], machine: Machine) -> dict[str, object]:
    """Everything ``init.py keeper`` needs, by its keys."""
    return {
        "pid": str(state.keeper("pid")),
        "control": str(state.control),
        "hosts": str(state.hosts),
        "commands": [["mount", "-t", "proc", "proc", "/proc"], *bridge()],
        "start": {seat.host: host_plan.unshare(machine, state.host(seat.host) / "host.json") for seat in seats},
        "disk": {seat.host: host_plan.disk(seat, state.host(seat.host), DISK_SIZE) for seat in seats},
    }


def bridge() -> list[Argv]:
    """The switch all hosts are plugged into; its address is chaosk's own. There is no route beyond it."""
    return [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "link", "add", host_plan.BRIDGE, "type", "bridge", "forward_delay", "0"],
        ["ip", "address", "add", f"{OUTSIDE}/24", "dev", host_plan.BRIDGE],
        ["ip", "link", "set", host_plan.BRIDGE, "up"],
    ]
