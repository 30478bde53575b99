"""Priority of the analysis: it must not disturb the measured processes, and should judge at once when they have ended.

If Linux groups tasks by session (autogroup, Debian's default), sessions are weighted by a niceness of their own, and a
task's policy and niceness only count within its session: see sched(7).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_NICENESS = 5
"""A third of the processor share of others; at 10, a tenth, judging beside another run took minutes."""
_AUTOGROUP = Path("/proc/self/autogroup")


def step_back() -> None:
    """Lower the priority of this process within its session, and of its session, for good."""
    os.nice(_NICENESS)
    _weigh(_NICENESS)


def idle() -> None:
    """Use only processor time that nobody else wants, and weigh less as a session; children inherit it."""
    with suppress(OSError):  # a sandbox may forbid it
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    _weigh(_NICENESS)


def resume() -> None:
    """End ``idle`` for this process and all processes below it; this needs no privilege."""
    for task in _tasks(os.getpid()):
        with suppress(OSError):  # it has just ended
            os.sched_setscheduler(task, os.SCHED_OTHER, os.sched_param(0))
    _weigh(0)


def _weigh(niceness: int) -> None:
    with suppress(OSError):  # no autogroup in the kernel, or another value was set less than 100 ms ago
        _AUTOGROUP.write_text(str(niceness), "ascii")


def _tasks(process: int) -> Iterator[int]:
    """Yield the threads of a process, and of those below it."""
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            yield int(task.name)
            for child in (task / "children").read_text("ascii").split():
                yield from _tasks(int(child))
