"""How a child learns that its parent is gone: its standard input is a pipe that nobody but the parent holds.

The kernel closes the pipe however the parent dies, and before that no one does. Linux has a signal for it as well
(``PR_SET_PDEATHSIG``), but that one comes when the *thread* that started the child ends, and chaosk starts probes
from threads. It is good for one thing: a child that is frozen when its parent dies reads no pipe, and a SIGCONT wakes
it, which does nothing to one that is not.
"""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import threading
from collections.abc import Callable

LAST_CALL = 30.0
"""Seconds that an orphan may take to end cleanly before it is ended in the middle of whatever it does."""

_PR_SET_PDEATHSIG = 1  # prctl(2)
ORPHANED = 71
"""Its exit status then."""


def wake_with_parent() -> None:
    """From now on the kernel sends this process a SIGCONT when its parent, or the thread that started it, ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)


def watch_parent(orphaned: Callable[[], None], descriptor: int = 0, *, in_time: bool = True) -> None:
    """Call ``orphaned`` once the parent is gone, and end the process ``LAST_CALL`` seconds later if it still runs.

    With ``in_time`` false it takes the time that it needs. Does nothing where ``descriptor`` is no pipe: then a person
    started the process by hand.
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
