"""A workaround for virtual machines on processors with more registers than their kernel supports.

Debian's User Mode Linux, 6.1, panics at its first process if the processor has AMX (Intel's Xeons since 2023): "ptrace
set fp regs failed, errno = 14". Later versions ask for the size of the registers; ``vm_registers.c`` fixes this one.
"""

from __future__ import annotations

from pathlib import Path

from chaosk.lab import runner

COMPILER = "gcc"
_PROCESSORS = Path("/proc/cpuinfo")
_SOURCE = Path(__file__).with_suffix(".c")


def too_large() -> bool:
    """Return whether this machine's processors have AMX."""
    return "amx_tile" in _PROCESSORS.read_text(encoding="utf-8", errors="replace").split()


def library(folder: Path) -> Path:
    """Compile the library for the kernel's ``LD_PRELOAD`` into ``folder``. Raises LabError."""
    made = folder / "registers.so"
    runner.run([COMPILER, "-O2", "-Wall", "-Werror", "-fPIC", "-shared", "-nostdlib", "-o", str(made), str(_SOURCE)])
    return made
