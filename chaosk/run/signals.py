"""Signals during a run: the first one ends and heals it; a second Ctrl-C leaves the healing to the hosts."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN_AFTER = 1.0
"""Seconds after which a Ctrl-C counts as a second one; wrappers like sudo repeat the first one at once."""


def _nobody(signal: str) -> None:
    """Drop the signal."""


@contextmanager
def heard(
    stop: threading.Event,
    say: Callable[[str], None],
    leave: Callable[[], None],
    tell: Callable[[str], None] = _nobody,
) -> Iterator[None]:
    """Set ``stop`` when a signal asks the run to end; from the main thread only.

    ``leave`` is called in the main thread if Ctrl-C is pressed again while the run heals. ``tell`` is called first,
    with the name of every signal.
    """
    first: list[float] = []

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a handler
        name = signal.Signals(number).name
        tell(name)
        if not stop.is_set():
            first.append(time.monotonic())
            stop.set()
            say(f"{name}: ending the run and healing all faults")
        elif number == signal.SIGINT and (not first or time.monotonic() - first[0] >= AGAIN_AFTER):
            leave()
        else:
            say(f"{name}: still healing; press Ctrl-C to leave at once and let the hosts heal themselves")

    before = {number: signal.signal(number, handle) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
