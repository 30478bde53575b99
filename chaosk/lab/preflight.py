"""What this machine must have before a lab can be put up; each lack is one message that says what to install."""

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
"""Kilobytes: a broker and a ZooKeeper node, resident."""


def check(hosts: int) -> None:
    """Raise LabError unless this is root on a Linux with everything the lab runs, and with memory for ``hosts``."""
    if os.geteuid() != 0:
        raise LabError("only root can put up a lab; run as root or through sudo")
    lacking = [program for program in _PROGRAMS if runner.locate(program) is None]
    if lacking:
        packages = " ".join(dict.fromkeys(runner.PACKAGES[program] for program in lacking))
        raise LabError(f"{', '.join(lacking)}: not installed; do: apt-get install {packages}")
    available = _available_memory()
    if available < hosts * _MEMORY_PER_HOST:
        need = hosts * _MEMORY_PER_HOST // 1000
        raise LabError(f"{hosts} lab hosts need about {need} MB of memory; {available // 1000} MB are free")


def memory(layout: LabLayout) -> int:
    """Megabytes that a lab of this layout can come to have; raises UsageError when it contradicts itself."""
    hosts = len(describe(layout, state.of(layout.name)).seats)
    return hosts * (vm_plan.MEMORY if layout.hosts == "vms" else _MEMORY_PER_HOST // 1000)


def free_memory() -> int:
    """Megabytes that new processes can have, as the kernel estimates."""
    return _available_memory() // 1000


def _available_memory() -> int:
    """Kilobytes that new processes can have, as the kernel estimates."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))


def machine(installed: Mapping[str, Path], init: Path) -> Machine:
    """What hosts borrow from this machine, their process 1 running ``init``; raises LabError without Java.

    ``installed`` has by version of Kafka the directory with its jars, first the one that is used at first.
    """
    users = {entry.pw_name for entry in pwd.getpwall()}
    return Machine(
        python=_python(),
        init=str(init),
        java_home=str(runner.find("java").resolve().parent.parent),
        installed=tuple((version, str(jars)) for version, jars in installed.items()),
        hidden=str(state.state_root()),
        read_only=tuple(path for path in _MACHINE_WIDE if Path(path).exists()),
        propagation="unchanged" if in_chroot() else "slave",
        separate=("/usr",) if os.path.ismount("/usr") else (),
        has_user="ops" in users,
        has_kafka="kafka" in users,
    )


def in_chroot() -> bool:
    """Whether the root of this process is a directory like any other: the kernel lists every mount but that one."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return not any(line.split()[4] == "/" for line in lines)


def _python() -> str:

    return str(Path(sys.executable).resolve())
