"""Registers that are more than a virtual machine's kernel has room for: what that kernel is given to live with it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from chaosk.core.errors import LabError
from chaosk.lab import vm_registers

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the kernel's package is for amd64 alone")

TRACER = """
import ctypes, os, signal

ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
ptrace.restype = ctypes.c_long
TRACEME, PEEK_USER, KILL, GET, SET, EXTENDED = 0, 3, 8, 0x4204, 0x4205, 0x202


class Room(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def call(request, size):
    buffer = given if request == SET else ctypes.create_string_buffer(size)
    room = Room(ctypes.addressof(buffer), size)
    answer = ptrace(request, child, EXTENDED, ctypes.addressof(room))
    return buffer, room.size, 0 if answer == 0 else ctypes.get_errno()


child = os.fork()
if child == 0:
    ptrace(TRACEME, 0, None, None)
    os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(child, 0)
whole = call(GET, 1 << 16)[1]
given, size, _ = call(GET, whole - 64)
before = given.raw
failed = call(SET, size)[2]
again = call(GET, whole - 64)[0].raw
print(whole, size, failed, before == again, ptrace(PEEK_USER, child, 0, None) != -1)
os.kill(child, signal.SIGKILL)
"""
"""A process gives its child as many of its registers back as it had room for; then it asks for something else."""


def traced(preload: Path | None) -> list[str]:
    """What the tracer says: bytes there are, bytes it got, the error of giving them back, and that all is as it was."""
    environment = dict(os.environ) | ({"LD_PRELOAD": str(preload)} if preload else {})
    done = subprocess.run([sys.executable, "-c", TRACER], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_part_of_the_registers_is_taken_back(tmp_path: Path) -> None:
    """Linux refuses it (14, EFAULT); with the library it is taken, and other calls go through as they were."""
    whole, part, *rest = traced(None)
    assert (int(part), rest) == (int(whole) - 64, ["14", "True", "True"])
    assert traced(vm_registers.library(tmp_path)) == [whole, part, "0", "True", "True"]


@pytest.mark.parametrize("flags", ["fpu amx_bf16 amx_tile avx", "fpu avx"])
def test_who_needs_it(flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processors with AMX: it alone makes the registers more than there is room for."""
    known = tmp_path / "cpuinfo"
    known.write_text(f"processor\t: 0\nflags\t\t: {flags}\n\nprocessor\t: 1\nflags\t\t: {flags}\n", encoding="utf-8")
    monkeypatch.setattr(vm_registers, "_PROCESSORS", known)
    assert vm_registers.too_large() is ("amx_tile" in flags)


def test_a_compiler_that_fails(tmp_path: Path) -> None:
    """Its own words are in the one error."""
    with pytest.raises(LabError, match=r"gcc .*registers\.so.*: exit status 1: .*No such file or directory"):
        vm_registers.library(tmp_path / "nowhere")


def test_a_kernel_with_too_little_room() -> None:
    """What the criterion stands for: without AMX they fit into the kernel's 2,696 bytes, with it they do not."""
    assert (int(traced(None)[0]) > 2_696) is vm_registers.too_large()
