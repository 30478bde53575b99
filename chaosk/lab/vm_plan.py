"""The keeper's plan for virtual machines: a tap on the bridge and a User Mode Linux process for each. Pure."""

from __future__ import annotations

import shlex
from pathlib import Path

from chaosk.lab import host_plan, keeper_plan, vm_disks
from chaosk.lab.host_plan import Argv, Machine
from chaosk.lab.seating import Seat
from chaosk.lab.state import LabState

KERNEL = "linux.uml"
MEMORY = 800
"""Megabytes of each machine; the host's memory is used only for pages that were touched once."""

BOOT = "/usr/local/sbin/lab-boot"
"""The first program that the kernel starts on a machine."""

POWER_ON = "power-on"
"""The file name of a machine's script."""
_POWER_ON = """#!/bin/bash
for file in /proc/self/fd/*; do
    number=${{file##*/}}
    [ "$number" -lt 3 ] || eval "exec $number>&-"
done
taskset --cpu-list --pid {processor} $$ >/dev/null # without it a machine is slow, which is no reason not to start it
{environment}exec -a "$0" {kernel} {words}
"""

_NOTE_PID = 'echo $$ >"$0.new" && mv "$0.new" "$0" && exec "$@"'


def plan(state: LabState, seats: tuple[Seat, ...], machine: Machine) -> dict[str, object]:
    """Return the input of ``init.py keeper``."""
    memory = f"{state.directory}/memory"
    return {
        "pid": str(state.keeper("pid")),
        "control": str(state.control),
        "hosts": str(state.hosts),
        "commands": [
            ["mount", "-t", "proc", "proc", "/proc"],
            *keeper_plan.bridge(),
            *(argv for seat in seats for argv in tap(seat)),
            # With a small /dev/shm, a machine would crash at its first page beyond it
            ["mkdir", "-p", memory],
            ["mount", "-t", "tmpfs", "-o", f"size={len(seats) * (MEMORY + 8)}m,mode=700", "tmpfs", memory],
        ],
        "start": {seat.host: start(state.host(seat.host), memory, machine.propagation) for seat in seats},
        "disk": {seat.host: [] for seat in seats},
    }


def tap(seat: Seat) -> list[Argv]:
    """Return the commands that connect one machine to the bridge."""
    return [
        ["ip", "tuntap", "add", "mode", "tap", "name", seat.plug],
        ["ip", "link", "set", seat.plug, "master", host_plan.BRIDGE, "up"],
    ]


def start(at: Path, memory: str, propagation: str) -> Argv:
    """Return the command that becomes a machine; its output is the machine's console.

    A shell records its process id, then executes the machine. It has a separate PID namespace, since a killed kernel
    must take its processes with it.
    """
    return [
        *("sh", "-c", _NOTE_PID, str(at / "pid")),
        *("env", f"TMPDIR={memory}"),
        *("unshare", "--pid", "--mount-proc", "--propagation", propagation, "--fork", "--kill-child"),
        str(at / POWER_ON),
    ]


def power_on(seat: Seat, at: Path, image: Path, processor: int, preload: Path | None = None) -> str:
    """Return the script that becomes a machine's kernel, at the first start and at every reboot.

    At a reboot this kernel executes its own program name, which is the script, and leaves its files open. Without the
    script the tap would be busy, and the machine would return without a network and with its old memory still in use.

    A machine runs on one ``processor``. Its kernel is a process that traces those of its programs, and at each system
    call they wait for each other. On two processors each such switch wakes a sleeping one. On one processor a call in a
    machine took 24 microseconds instead of 120 to 270.

    ``preload`` is a library that its kernel needs; see :mod:`chaosk.lab.vm_registers`.
    """
    words = [
        *(f"mem={MEMORY}M", f"umid={seat.host}", f"uml_dir={at}/control/"),
        *(f"ubda={at}/disk.cow,{image}", f"ubdb={at}/seed.tar"),
        *vm_disks.words(seat, at),
        *("root=/dev/ubda", "rw", f"init={BOOT}"),
        f"vec0:transport=tap,ifname={seat.plug},mac={seat.mac},depth=128,gro=1",
        *("con=null", "con0=null,fd:1"),
    ]
    environment = "" if preload is None else f"LD_PRELOAD={shlex.quote(str(preload))} "
    return _POWER_ON.format(processor=processor, environment=environment, kernel=KERNEL, words=shlex.join(words))
