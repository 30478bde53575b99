"""Real-time priority for the sending thread, to keep a schedule on a busy machine if the system permits it.

On two cores with a load of ten, 1 % of the wake-ups of an ordinary thread were 4 to 14 ms late; those of a real-time
thread 0.1 ms. Only a thread that sends at a fixed and modest rate uses it: it works for microseconds and sleeps. A
probe at full speed, or one that reads, would take the processor from the brokers of a lab on the same machine.
"""

from __future__ import annotations

import os
from contextlib import suppress


def go_first() -> None:
    """Make the calling thread a real-time one; without the right to (root, ``CAP_SYS_NICE``) it stays ordinary.

    Threads that it starts are ordinary ones. The cost of an ordinary thread is in the log: ``invoked`` minus
    ``scheduled`` of every send.
    """
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
