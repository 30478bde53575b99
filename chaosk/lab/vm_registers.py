"""What virtual machines need on processors whose registers are more than their kernel has room for.

Debian's User Mode Linux, 6.1, panics at its first process where the processor has AMX (Intel's Xeons since 2023):
"ptrace set fp regs failed, errno = 14". Later ones ask how large they are; ``vm_registers.c`` helps this one.
"""

from __future__ import annotations

from pathlib import Path

from chaosk.lab import runner

COMPILER = "gcc"
_PROCESSORS = Path("/proc/cpuinfo")
_SOURCE = Path(__file__).with_suffix(".c")


def too_large() -> bool:
    """Whether this machine's processors have AMX."""
    return "amx_tile" in _PROCESSORS.read_text(encoding="utf-8", errors="replace").split()


def library(folder: Path) -> Path:
    """Compile what the kernel needs into ``folder``: a library for ``LD_PRELOAD``. Raises LabError."""
    made = folder / "registers.so"
    runner.run([COMPILER, "-O2", "-Wall", "-Werror", "-fPIC", "-shared", "-nostdlib", "-o", str(made), str(_SOURCE)])
    return made
