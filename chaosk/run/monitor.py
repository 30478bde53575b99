"""Watches over a run: every stop condition in a thread of its own; the first one that holds stops the run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import structlog

from chaosk import registry
from chaosk.errors import ChaoskError
from chaosk.run.clock import now
from chaosk.runrecord import Breach
from chaosk.stop_conditions._contract import Seen, Sight, StopCondition

log = structlog.get_logger()


class Monitor:
    """The stop conditions of one run, from :meth:`start` to :meth:`end`."""

    def __init__(self, conditions: Iterable[StopCondition], sight: Sight, stop: Callable[[Breach], None]) -> None:
        """``stop`` is called once, from another thread, with the first breach."""
        self._sight = sight
        self._stop = stop
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._watch, args=(one,), name=f"watch {registry.name_of(type(one))}", daemon=True)
            for one in conditions
        ]

    def start(self) -> None:
        """Begin to look."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Look no more; what is still being asked is heard by nobody."""
        with self._lock:
            self._ended.set()

    def _watch(self, condition: StopCondition) -> None:
        name = registry.name_of(type(condition))
        while not self._ended.is_set():
            seen = self._look(name, condition)
            if seen is not None:
                self._decide(name, seen)
                return
            self._ended.wait(condition.pause())

    def _look(self, name: str, condition: StopCondition) -> Seen | None:
        try:
            return condition.look(self._sight)
        except ChaoskError as error:
            log.warning("stop condition", condition=name, problem=str(error))
            return None
        except Exception as error:  # noqa: BLE001 - a defect in a plugin must not leave a run unwatched in silence
            return Seen(now(), f"a defect in it, so nobody watches: {type(error).__name__}: {error}")

    def _decide(self, name: str, seen: Seen) -> None:
        with self._lock:
            if self._ended.is_set():
                return
            self._ended.set()
        breach = Breach(condition=name, what=seen.what, at=seen.at, decided=now())
        log.warning("stopping", **breach.model_dump())
        self._stop(breach)
