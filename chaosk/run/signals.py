"""Signals during a run: the first one heals and ends it, the next ones are answered, never obeyed half-way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def heard(stop: threading.Event, say: Callable[[str], None]) -> Iterator[None]:
    """Set ``stop`` when a signal asks the run to end; from the main thread only."""

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a handler
        name = signal.Signals(number).name
        if stop.is_set():
            say(f"{name}: still healing; leaving now would leave the cluster broken")
        else:
            stop.set()
            say(f"{name}: ending the run; healing what is in place")

    before = {number: signal.signal(number, handle) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
