"""What tests on a lab share: its network, and waiting for what happens there."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chaosk import lab


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """This thread, and all it starts, in a network namespace, with the names that are known there; then back."""
    homes = [os.open(f"/proc/thread-self/ns/{kind}", os.O_RDONLY) for kind in ("net", "mnt")]
    mounts = os.fstat(homes[1])
    at = Path.cwd()
    try:
        lab.enter(namespace)
        yield
    finally:
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.setns(homes[0], 0) == 0
        if not os.path.samestat(mounts, Path("/proc/thread-self/ns/mnt").stat()):
            assert libc.setns(homes[1], 0) == 0, os.strerror(ctypes.get_errno())
            os.chdir(at)
        for home in homes:
            os.close(home)


def until(holds: Callable[[], bool], within: float) -> float:
    """Seconds until it holds; fails the test if that takes longer than ``within``."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < within, f"not within {within:g} s"
        time.sleep(0.05)
    return time.monotonic() - began
