"""Requirements of a lab on this machine; each missing one gives a message with the package to install."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Mapping
from pathlib import Path

from chaosk.core.errors import LabError
from chaosk.lab import runner, state, vm_plan
from chaosk.lab.host_plan import Machine
from chaosk.lab.lab import describe
from chaosk.spec.lab_layout import LabLayout

_PROGRAMS = ("ip", "iptables", "sshd", "ssh", "sudo", "java", "unshare", "nsenter", "setpriv")
_MACHINE_WIDE = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
_MEMORY_PER_HOST = 420_000
"""Kilobytes of memory of a broker and a ZooKeeper node, resident."""


def check(hosts: int) -> None:
    """Raise LabError unless this is root on Linux, with all programs of the lab and memory for ``hosts``."""
    if os.geteuid() != 0:
        raise LabError("only root can put up a lab; run as root or through sudo")
    runner.require(_PROGRAMS)
    available = _available_memory()
    if available < hosts * _MEMORY_PER_HOST:
        need = hosts * _MEMORY_PER_HOST // 1000
        raise LabError(f"{hosts} lab hosts need about {need} MB of memory; {available // 1000} MB are free")


def memory(layout: LabLayout) -> int:
    """Return the megabytes that a lab of this layout may use; raises UsageError if the layout is contradictory."""
    hosts = len(describe(layout, state.of(layout.name)).seats)
    return hosts * (vm_plan.MEMORY if layout.hosts == "vms" else _MEMORY_PER_HOST // 1000)


def free_memory() -> int:
    """Return the kernel's estimate of memory for new processes, in megabytes."""
    return _available_memory() // 1000


def _available_memory() -> int:
    """Return the kernel's estimate of memory for new processes, in kilobytes."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))


def machine(installed: Mapping[str, Path], init: Path) -> Machine:
    """Describe the parts of this machine that hosts share; raises LabError without Java.

    ``init`` is the program of the hosts' process 1. ``installed`` maps each version of Kafka to the directory of its
    jars, first the one that is used at first.
    """
    there = {entry.pw_name for entry in pwd.getpwall()}
    return Machine(
        python=str(Path(sys.executable).resolve()),
        init=str(init),
        java_home=str(runner.find("java").resolve().parent.parent),
        installed=tuple((version, str(jars)) for version, jars in installed.items()),
        hidden=str(state.state_root()),
        read_only=tuple(path for path in _MACHINE_WIDE if Path(path).exists()),
        propagation="unchanged" if in_chroot() else "slave",
        separate=("/usr",) if os.path.ismount("/usr") else (),
        users=tuple(name for name in ("ops", "kafka") if name in there),
    )


def in_chroot() -> bool:
    """Return whether this process is in a chroot: then its root is not in the kernel's list of mounts."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return not any(line.split()[4] == "/" for line in lines)
