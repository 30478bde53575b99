"""Heartbeats: a separate thread records four times a second that the process is running.

The thread waits for nothing but the processor. A client call that waits for a broker, or an application that works on a
record, blocks the loop but not this thread: the beats continue, which shows that chaosk did not cause the delay. A
process that was stopped, swapped out, or given no processor misses beats in all its threads. So does a process whose
log waits for the disk, as the loop waits for it as well. The gap between two beats is the duration. See
docs/decisions/self-check.md.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from chaosk.rundir.events.live import LiveLog

PERIOD = 250_000_000
"""Nanoseconds from one beat to the next."""


@contextmanager
def heartbeats(log: LiveLog, writer: str) -> Iterator[None]:
    """Write ``heartbeats`` as ``writer`` until the context ends, with a beat at its exact start and end."""
    ending = threading.Event()
    thread = threading.Thread(target=_beat, args=(log, writer, ending), daemon=True, name="heartbeat")
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


def _beat(log: LiveLog, writer: str, ending: threading.Event) -> None:
    due = time.monotonic_ns()
    while True:
        last, now = ending.is_set(), time.monotonic_ns()
        log.write("heartbeats", (writer, now, max(0, now - due)))
        if last:
            return
        due = now + PERIOD
        ending.wait(PERIOD / 1e9)
