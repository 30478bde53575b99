"""Flushes the event log while the probe's own loop is held up, say in a commit that waits for its answer."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from chaosk.core.errors import EventLogError
from chaosk.rundir.events.live import LiveLog

LOOK_EVERY = 0.02
"""Seconds between looks at whether a row has waited too long."""

_SWITCH = 0.0005  # seconds for which Python may let one thread hold up the others; its default is ten times that


@contextmanager
def flushed(log: LiveLog) -> Iterator[LiveLog]:
    """Keep ``log`` flushed in a thread; what that thread fails to write, the next flush of anybody reports."""
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
