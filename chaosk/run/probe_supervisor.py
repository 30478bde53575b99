"""The probes of a run: one process each, started, ended or killed by name, with a record of every end."""

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
"""Seconds that a probe may take to end cleanly: a producer waits for its requests in flight."""


_NOBODY: Mapping[str, str] = MappingProxyType({})


class ProbeSupervisor:
    """The probes by name. An incarnation is one process; starting a probe that ended starts the next one."""

    def __init__(self, launch: Callable[[str, int], ProbeProcess], waiting: Mapping[str, str] = _NOBODY) -> None:
        """``launch(probe, incarnation)`` starts a process; ``waiting``: kinds of the probes that a step starts."""
        self._launch = launch
        self._waiting = waiting
        self._running: dict[str, ProbeProcess] = {}
        self._incarnations: dict[str, int] = {}
        self._ends: list[ProbeEnd] = []
        self._lock = threading.RLock()

    def start(self, probe: str) -> None:
        """Start a probe unless it runs: an undo may be executed twice."""
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
        """Execute a deed on a probe; raises StepError on failure."""
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
        """End a probe cleanly, or with SIGKILL; raises StepError if a step would end a probe that does not run."""
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
        """End several probes cleanly, in parallel."""
        threads = [threading.Thread(target=self.end, args=(probe,)) for probe in probes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def abandon(self) -> None:
        """Kill every running probe: the run is broken off."""
        with self._lock:
            for probe, process in list(self._running.items()):
                if process.state().running:
                    process.kill()
                    self._note(probe, "abort")

    def state(self, probe: str) -> ProbeState:
        """Return the last state of a probe, also before a step starts it; raises StepError for an unknown probe."""
        if probe in self._waiting and probe not in self._running:
            return ProbeState(probe=probe, kind=self._waiting[probe], running=False, begun=False)
        return self._of(probe).state()

    def states(self) -> tuple[ProbeState, ...]:
        """Return the last state of each probe, in the order of their start."""
        return tuple(process.state() for process in list(self._running.values()))

    def dead(self) -> tuple[str, ...]:
        """Return the probes that died, or were ended by a step and not started again."""
        return tuple(state.probe for state in self.states() if not state.running)

    def ends(self) -> tuple[ProbeEnd, ...]:
        """Return the end of every process; also notes those that died unnoticed."""
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
