"""What tests on a lab share: its network, and waiting for what happens there."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chaosk import lab


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """This thread, and all it starts, in a network namespace; then back."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        lab.enter(namespace)
        yield
    finally:
        assert ctypes.CDLL(None, use_errno=True).setns(home, 0) == 0
        os.close(home)


def until(holds: Callable[[], bool], within: float) -> float:
    """Seconds until it holds; fails the test if that takes longer than ``within``."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < within, f"not within {within:g} s"
        time.sleep(0.05)
    return time.monotonic() - began
