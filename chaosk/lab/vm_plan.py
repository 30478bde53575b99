"""What the keeper does for virtual machines: a tap on the bridge and a User Mode Linux process for each. Pure."""

from __future__ import annotations

from pathlib import Path

from chaosk.lab import host_plan, keeper_plan
from chaosk.lab.host_plan import Argv, Machine
from chaosk.lab.seating import Seat
from chaosk.lab.state import LabState

KERNEL = "linux.uml"
MEMORY = 800
"""Megabytes of each machine; memory is used only for what it has touched once."""

BOOT = "/usr/local/sbin/lab-boot"
"""What the kernel starts first on a machine."""

_NOTE_PID = 'echo $$ >"$0"; exec "$@"'


def plan(state: LabState, seats: tuple[Seat, ...], image: Path, machine: Machine) -> dict[str, object]:
    """Everything ``init.py keeper`` needs, by its keys."""
    memory = f"{state.directory}/memory"
    return {
        "pid": str(state.keeper("pid")),
        "control": str(state.control),
        "hosts": str(state.hosts),
        "commands": [
            ["mount", "-t", "proc", "proc", "/proc"],
            *keeper_plan.bridge(),
            *(argv for seat in seats for argv in tap(seat)),
            # Where /dev/shm is small, a machine would die of its first page beyond it
            ["mkdir", "-p", memory],
            ["mount", "-t", "tmpfs", "-o", f"size={len(seats) * (MEMORY + 8)}m,mode=700", "tmpfs", memory],
        ],
        "start": {seat.host: start(seat, state.host(seat.host), image, memory, machine.propagation) for seat in seats},
        "disk": {seat.host: [] for seat in seats},
    }


def tap(seat: Seat) -> list[Argv]:
    """The cable of one machine, plugged into the bridge."""
    return [
        ["ip", "tuntap", "add", "mode", "tap", "name", seat.plug],
        ["ip", "link", "set", seat.plug, "master", host_plan.BRIDGE, "up"],
    ]


def start(seat: Seat, at: Path, image: Path, memory: str, propagation: str) -> Argv:
    """The command that becomes a machine; its console is what it writes. Its id is noted by a shell that turns into it.

    It has a PID namespace of its own, since a kernel that is killed must take its processes with it.
    """
    return [
        *("sh", "-c", _NOTE_PID, str(at / "pid")),
        *("env", f"TMPDIR={memory}"),
        *("unshare", "--pid", "--mount-proc", "--propagation", propagation, "--fork", "--kill-child"),
        *(KERNEL, f"mem={MEMORY}M", f"umid={seat.host}", f"uml_dir={at}/control/"),
        *(f"ubda={at}/disk.cow,{image}", f"ubdb={at}/seed.tar"),
        *("root=/dev/ubda", "rw", f"init={BOOT}"),
        f"vec0:transport=tap,ifname={seat.plug},mac={seat.mac},depth=128,gro=1",
        *("con=null", "con0=null,fd:1"),
    ]
