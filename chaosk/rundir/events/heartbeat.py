"""Whether a process goes on: it writes down four times a second that it does, from a thread of its own.

The thread waits for nothing but its turn. A client call that waits for a broker, or an application that works on a
record, holds up the loop and not the thread: the beats go on, and that was no fault of chaosk's. A process that was
stopped, swapped out, or given no processor misses beats with all its threads, and so does one whose log waits for the
disk, which the loop waits for as well: the gap says for how long. See docs/decisions/self-check.md.
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
    """Write ``heartbeats`` as ``writer`` until the context ends, the first and the last at its very begin and end."""
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
