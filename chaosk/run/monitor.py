"""Stop conditions: each has its own thread, and the first one that holds stops the run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import structlog

from chaosk.core import plugins
from chaosk.core.errors import ChaoskError
from chaosk.run.clock import now
from chaosk.rundir.record import Breach
from chaosk.spec.contracts.stop_condition import StopCondition, StopConditionInputs, StopReason

log = structlog.get_logger()

BLIND = 10.0
"""Seconds without an evaluation of a condition after which the run is stopped."""


class Monitor:
    """The stop conditions of one run, from :meth:`start` to :meth:`end`."""

    def __init__(
        self,
        conditions: Iterable[StopCondition],
        sight: StopConditionInputs,
        stop: threading.Event,
        say: Callable[[str], None],
    ) -> None:
        """``stop`` is set at the first breach, unless it is set already: then the run keeps its earlier reason."""
        self._sight = sight
        self._stop = stop
        self._say = say
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._breach: Breach | None = None
        self._threads = [
            threading.Thread(target=self._watch, args=(one,), name=f"watch {plugins.name_of(type(one))}", daemon=True)
            for one in conditions
        ]

    @property
    def breach(self) -> Breach | None:
        """The breach that stopped the run."""
        return self._breach

    @property
    def words(self) -> str | None:
        """Reason why the run was stopped; None if no stop condition did that."""
        return None if self._breach is None else f"ABORTED BY GUARD {self._breach.condition}: {self._breach.what}"

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """End the threads; the result of an evaluation in progress is dropped."""
        with self._lock:
            self._ended.set()

    def healed(self) -> None:
        """Record the time at which everything was undone, if a stop condition ended the run."""
        if self._breach is not None:
            self._breach = self._breach.model_copy(update={"healed": now()})
            log.info("all healed", **self._breach.model_dump())

    def _watch(self, condition: StopCondition) -> None:
        name = plugins.name_of(type(condition))
        looked = now()
        while not self._ended.is_set():
            try:
                seen = condition.look(self._sight)
                looked = now()
            except ChaoskError as error:
                log.warning("stop condition", condition=name, problem=str(error))
                seen = _blind(looked, error)
            except Exception as error:  # noqa: BLE001 - a defect in a plugin must not leave a run unwatched in silence
                seen = StopReason(now(), f"its evaluation failed: {type(error).__name__}: {error}")
            if seen is not None:
                self._decide(name, seen)
                return
            self._ended.wait(condition.pause())

    def _decide(self, name: str, seen: StopReason) -> None:
        with self._lock:
            if self._ended.is_set() or self._stop.is_set():
                return
            self._ended.set()
            self._breach = Breach(condition=name, what=seen.what, at=seen.at, decided=now())
        self._stop.set()
        log.warning("stopping", **self._breach.model_dump())
        self._say(f"STOP CONDITION {name}: {seen.what}; healing all faults")


def _blind(looked: int, error: ChaoskError) -> StopReason | None:
    """Return a breach if the last successful evaluation is too long ago."""
    blind = (now() - looked) / 1e9
    return None if blind < BLIND else StopReason(now(), f"it could not be evaluated for {blind:.0f} s: {error}")
