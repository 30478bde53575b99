"""Detection of a parent's death: a child's standard input is a pipe that only the parent holds.

The kernel closes the pipe however the parent dies, and not earlier. Linux also has a signal for it
(``PR_SET_PDEATHSIG``), but that one is sent when the *thread* that started the child ends, and chaosk starts probes
from threads. It serves one purpose: a child that is paused when its parent dies reads no pipe, and a SIGCONT resumes
it, which has no effect on a running child.
"""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import threading
from collections.abc import Callable

LAST_CALL = 30.0
"""Seconds for an orphan to end cleanly before it is killed."""

_PR_SET_PDEATHSIG = 1  # prctl(2)
ORPHANED = 71
"""Its exit status then."""


def wake_with_parent() -> None:
    """Make the kernel send this process a SIGCONT when its parent, or the thread that started it, ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)


def watch_parent(orphaned: Callable[[], None], descriptor: int = 0, *, in_time: bool = True) -> None:
    """Call ``orphaned`` once the parent is gone, and end the process ``LAST_CALL`` seconds later if it still runs.

    With ``in_time`` false there is no time limit. Has no effect if ``descriptor`` is not a pipe: then a person started
    the process by hand.
    """
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        threading.Thread(target=_wait, args=(orphaned, descriptor, in_time), daemon=True, name="lifeline").start()


def _wait(orphaned: Callable[[], None], descriptor: int, in_time: bool) -> None:  # noqa: FBT001 - a thread's argument
    while os.read(descriptor, 1):
        pass
    if in_time:
        timer = threading.Timer(LAST_CALL, os._exit, args=(ORPHANED,))
        timer.daemon = True
        timer.start()
    orphaned()
