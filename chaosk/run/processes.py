"""The processes of a run: probes and watcher. Some are started before they are needed."""

from __future__ import annotations

import structlog

from chaosk.core.errors import ChaoskError, StepError
from chaosk.core.plugins import name_of
from chaosk.core.spare import Spares
from chaosk.planning.plan import Plan
from chaosk.probes.worker import process as worker
from chaosk.probes.worker.spec import spec_of
from chaosk.run.naming import Naming
from chaosk.run.probe_supervisor import ProbeSupervisor
from chaosk.run.watcher import process as watcher
from chaosk.run.watcher.spec import WatcherSpec
from chaosk.run.watcher.state import WatcherState
from chaosk.rundir.events.writer_reports import WATCHER, writer_of
from chaosk.rundir.paths import RunDir

log = structlog.get_logger()

_SPARE = 8
"""Largest number of probes that are started before they are needed: each takes 100 MB."""


class Processes:
    """Probes start at the request of the supervisor, ``crew``; the watcher starts when the run directory is open."""

    def __init__(self, plan: Plan, naming: Naming) -> None:
        """Start nothing yet."""
        self._plan = plan
        self._naming = naming
        self._spares = Spares()
        self._watcher: watcher.WatcherProcess | None = None
        self.rundir: RunDir | None = None
        """Where they write; None before the run has one."""
        self.writers: list[str] = []
        """Started writers of event streams, by the names of their folders."""
        self.own_names = any(entry.step.names for entry in plan.scenario.timeline)
        """True if a step needs host names that only the run's probes resolve."""
        waiting = {name: name_of(type(one)) for name, one in plan.scenario.probes.items() if one.started_by == "step"}
        self.crew = ProbeSupervisor(self._launch, waiting)

    def prepare(self) -> None:
        """Start processes that wait for their task."""
        if not self.own_names:  # else their processes are wrapped
            self._spares.start(watcher.MODULE)
            first = [probe for probe in self._plan.scenario.probes.values() if probe.started_by == "run"]
            self._spares.start(worker.MODULE, min(len(first), _SPARE))

    def open(self, rundir: RunDir, *, others: bool) -> None:
        """Start the watcher; with ``others``, it also watches topics that are not the scenario's."""
        self.rundir = rundir
        if self.own_names:
            self._naming.open(rundir.live / "names")
        self.writers.append(WATCHER)
        spec = WatcherSpec(
            run_id=self._plan.run_id,
            inventory=self._plan.inventory,
            topics=tuple(self._plan.scenario.topics),
            folder=str(rundir.live / WATCHER),
            others=others,
        )
        file = rundir.root / "watcher.json"
        self._watcher = watcher.WatcherProcess(spec, file, self._naming.followed, self._spares)

    def watched(self) -> WatcherState | None:
        """Return the watcher's last sample of the cluster; None if there is none."""
        return self._watcher.state() if self._watcher is not None else None

    def stop_watcher(self) -> tuple[str, ...]:
        """End the watcher, if it runs; return its failure, in words."""
        running, self._watcher = self._watcher, None
        if running is not None:
            try:
                running.stop()
            except StepError as error:
                log.warning("watcher", problem=str(error))
                return (str(error),)
        return ()

    def close(self) -> None:
        """End every process."""
        self.crew.abandon()
        self.stop_watcher()
        self._spares.close()

    def _launch(self, probe: str, incarnation: int) -> worker.ProbeProcess:
        if self.rundir is None:
            raise ChaoskError(f"{probe}: the run has no directory yet")
        folder = self.rundir.live / writer_of(probe, incarnation)
        self.writers.append(folder.name)
        who = (self._plan.run_id, probe, incarnation)
        scenario = self._plan.scenario
        spec = spec_of(scenario.probes[probe], self._plan.inventory, who, folder, scenario.topics)
        return worker.ProbeProcess(spec, self._naming.seen, self._spares)
