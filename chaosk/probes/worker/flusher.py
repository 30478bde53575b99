"""Flushes the event log while the probe's own loop is blocked, for example in a commit that waits for its answer."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from chaosk.core.errors import EventLogError
from chaosk.rundir.events.live import LiveLog

LOOK_EVERY = 0.02
"""Seconds between checks for rows that have waited too long."""

_SWITCH = 0.0005  # seconds for which Python lets one thread block the others; its default is ten times that


@contextmanager
def flushed(log: LiveLog) -> Iterator[LiveLog]:
    """Keep ``log`` flushed in a thread; its write errors are raised by the next flush in any thread."""
    ending = threading.Event()
    sys.setswitchinterval(_SWITCH)
    thread = threading.Thread(target=_flush, args=(log, ending), daemon=True, name="flusher")
    thread.start()
    try:
        yield log
    finally:
        ending.set()
        thread.join()


def _flush(log: LiveLog, ending: threading.Event) -> None:
    while not ending.wait(LOOK_EVERY):
        if log.due():
            try:
                log.flush()
            except EventLogError:
                return  # the log remembers: the probe's own next flush raises it
