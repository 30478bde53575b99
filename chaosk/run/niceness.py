"""Niceness of the analysis, so that it does not disturb the measured processes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_NICENESS = 5
"""A third of the processor share of others; at 10, a tenth, judging beside another run took minutes. Irreversible."""


def step_back() -> None:
    """Lower the priority of this process within its session, and of its session.

    If Linux groups tasks by session (autogroup, Debian's default), sessions are weighted by a niceness of their own,
    and a task's niceness only counts within its session: see sched(7).
    """
    os.nice(_NICENESS)
    with suppress(OSError):  # no autogroup in the kernel, or another value was set less than 100 ms ago
        Path("/proc/self/autogroup").write_text(str(_NICENESS), "ascii")
