"""The probes of a run: one process each, started, ended or killed by name, and what became of every one of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType

from chaosk.core.errors import StepError
from chaosk.probes.worker.process import ProbeProcess
from chaosk.run.clock import now
from chaosk.rundir.record import ProbeEnd
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.step import Signal

FLUSH_WITHIN = 45.0
"""Seconds that a probe may take to end cleanly: a producer waits for what is in flight."""


_NOBODY: Mapping[str, str] = MappingProxyType({})


class Crew:
    """The probes by name. An incarnation is one process; starting a probe that ended starts the next one."""

    def __init__(self, launch: Callable[[str, int], ProbeProcess], waiting: Mapping[str, str] = _NOBODY) -> None:
        """``launch(probe, incarnation)`` starts a process; ``waiting``: the kinds of those that a step is to start."""
        self._launch = launch
        self._waiting = waiting
        self._running: dict[str, ProbeProcess] = {}
        self._incarnations: dict[str, int] = {}
        self._ends: list[ProbeEnd] = []
        self._lock = threading.RLock()

    def start(self, probe: str) -> None:
        """Start a probe if it does not run: an undo may come twice."""
        with self._lock:
            old = self._running.get(probe)
            if old is not None:
                if old.state().running:
                    return
                self._note(probe, "itself")
            incarnation = self._incarnations.get(probe, -1) + 1
            self._incarnations[probe] = incarnation
            self._running[probe] = self._launch(probe, incarnation)

    def signal(self, signal: Signal) -> None:
        """Carry out a deed on a probe; raises StepError if it cannot be."""
        match signal.action:
            case "start":
                self.start(signal.probe)
            case "pause":
                self._of(signal.probe).freeze()
            case "resume":
                self._of(signal.probe).thaw()
            case "stop" | "kill":
                self.end(signal.probe, kill=signal.action == "kill", by_step=True)

    def end(self, probe: str, *, kill: bool = False, by_step: bool = False) -> None:
        """End a probe cleanly, or with SIGKILL; raises StepError if a step would end one that does not run."""
        process = self._running.get(probe)
        if process is None or not process.state().running:
            if by_step:
                raise StepError(f"{probe}: it does not run, so it cannot be ended")
            return
        told = now()
        if kill:
            process.kill()
        else:
            process.stop(FLUSH_WITHIN)
        closing = {} if kill else {"told": told, "gone": now()}
        with self._lock:
            self._note(probe, "step" if by_step else "stop", closing)

    def end_all(self, probes: tuple[str, ...]) -> None:
        """End several probes cleanly, at the same time."""
        threads = [threading.Thread(target=self.end, args=(probe,)) for probe in probes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def abandon(self) -> None:
        """Kill whatever still runs: the run is broken off."""
        with self._lock:
            for probe, process in list(self._running.items()):
                if process.state().running:
                    process.kill()
                    self._note(probe, "abort")

    def state(self, probe: str) -> ProbeState:
        """What a probe said last, or that a step is still to start it; raises StepError if there is no such probe."""
        if probe in self._waiting and probe not in self._running:
            return ProbeState(probe=probe, kind=self._waiting[probe], running=False, begun=False)
        return self._of(probe).state()

    def states(self) -> tuple[ProbeState, ...]:
        """What each probe said last, in the order they were started."""
        return tuple(process.state() for process in list(self._running.values()))

    def dead(self) -> tuple[str, ...]:
        """The probes that ended by themselves, or were ended by a step and not started again."""
        return tuple(state.probe for state in self.states() if not state.running)

    def ends(self) -> tuple[ProbeEnd, ...]:
        """How every process ended; one that died unnoticed is noted now."""
        with self._lock:
            noted = {(end.probe, end.incarnation) for end in self._ends}
            for probe, process in self._running.items():
                if (probe, self._incarnations[probe]) not in noted and not process.state().running:
                    self._note(probe, "itself")
            return tuple(sorted(self._ends, key=lambda end: (end.probe, end.incarnation)))

    def _of(self, probe: str) -> ProbeProcess:
        process = self._running.get(probe)
        if process is None:
            why = "it has not been started" if probe in self._waiting else "there is no such probe"
            raise StepError(f"{probe}: {why}")
        return process

    def _note(self, probe: str, by: str, closing: Mapping[str, int] = MappingProxyType({})) -> None:
        process, incarnation = self._running[probe], self._incarnations[probe]
        if any((end.probe, end.incarnation) == (probe, incarnation) for end in self._ends):
            return
        status = process.state().exit_status
        self._ends.append(
            ProbeEnd.model_validate(
                {
                    "probe": probe, "incarnation": incarnation, "ended_by": by, "exit_status": status,
                    "last_words": process.last_words() if status else "", **closing,
                }
            )
        )  # fmt: skip
