"""The phases of a run, in order, and healing on every exit.

::

    warm_up    the watcher and the probes start; every probe has made progress
    baseline   the probes work without a fault
    timeline   the faults
    heal       faults still in place are undone, last in, first out
    settle     the probes go on, and for longer while a last stable offset does not move
    drain      producers end, consumers catch up and end
    whole      waits until the cluster is as healthy as preflight demands, or reports that it is not
    audit      a fresh reader reads every topic
    markers    if there were transactions: their markers, from the leaders' own files
    copies     compares the replicas at missing records, or everywhere if the scenario asks for it
    close      events become Parquet, run.json is written
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from chaosk import report
from chaosk.core.errors import ChaoskError, EventLogError, HealError
from chaosk.hosts.fingerprint import differences
from chaosk.planning.localhost import here
from chaosk.planning.plan import Plan
from chaosk.run.active_faults import active_faults
from chaosk.run.actor import FaultActor
from chaosk.run.admission import Admission
from chaosk.run.analyst import Analyst
from chaosk.run.approval import Approval, Decider
from chaosk.run.clock import Interrupted, now, sleep_until
from chaosk.run.display import Display, Rates, RecentErrors, Status
from chaosk.run.environment import Environment
from chaosk.run.faults import Faults
from chaosk.run.journal import Journal
from chaosk.run.monitor import Monitor
from chaosk.run.recorder import Recorder
from chaosk.run.timeline import Timeline
from chaosk.run.timeline_clock import TimelineClock
from chaosk.run.waiting import become_whole, drain, settle_longer, warm_up
from chaosk.rundir.events.store import close as close_events
from chaosk.rundir.events.writer_reports import RUN
from chaosk.rundir.paths import RunDir
from chaosk.rundir.record import RunRecord
from chaosk.spec.transaction_timeout import SLACK, longest

log = structlog.get_logger()

SAMPLED_TWICE = 5.0
"""Seconds beyond a rule's waiting time, so that the watcher has samples before and after it."""


class Engine:
    """One run."""

    def __init__(
        self, plan: Plan, field: Environment, rundir: RunDir, display: Display, stop: threading.Event,
        decider: Decider | None = None,
    ) -> None:  # fmt: skip
        """``decider`` is asked before each entry acts; None to ask nothing."""
        self._plan = plan
        self._field = field
        self._rundir = rundir
        self._display = display
        self._stop = stop
        self._recorder = Recorder(rundir.live / RUN, plan.run_id)
        self._leases = field.leases()
        self._faults = Faults(field.hands, Journal(rundir.undo), self._leases, self._recorder.fault, display.say)
        field.excuse(self._faults.down)
        field.tell_remakings(self._recorder.remaking)
        admission = Admission(plan.inventory, plan.scenario.allow, field.foreign.partitions, here(plan.inventory))
        self._pace, self._decider = TimelineClock(), decider
        asking = Approval(decider, self._pace, plan.inventory) if decider is not None else None
        actor = FaultActor(plan, field.hands, self._faults, display, admission, self._snapshot_during, asking)
        self._timeline = Timeline(plan.scenario.timeline, actor, stop, self._pace)
        self._rates, self._errors = Rates(), RecentErrors()
        self._phase = "warm_up"
        self._began = now()
        self._wall = time.time_ns()
        self._monitor = Monitor(field.stop_conditions, field.sight(self._faults.held), stop, display.say)
        self._not_healed: tuple[str, ...] = ()
        self._unwell: tuple[str, ...] = ()
        self._before: dict[str, str] = {}
        self._analyst: Analyst | None = None

    def run(self) -> tuple[RunRecord, Analyst | None]:
        """Run to the end, or heal and stop; return the record, and the analysis, which waits for its start.

        Problems of the cluster are in the record, not raised. Raises EventLogError if the evidence cannot be written,
        and HealError if in addition a fault is left unhealed, since then no record can report it.
        """
        error: str | None = None
        try:
            self._play()
        except Interrupted:
            gone = f"interrupted: {self._field.gone}" if self._field.gone else "interrupted"
            error = self._monitor.words or (self._decider and self._decider.ended) or gone
        except ChaoskError as broken:
            error = str(broken)
            self._display.say(f"broken off: {error}")
        finally:
            self._monitor.end()
            self._heal()
            if not self._not_healed:
                self._monitor.healed()
            self._compare_hosts()
            self._field.crew.abandon()
            torn = self._field.stop_watcher()
        return self._close(error, torn), self._analyst

    def _play(self) -> None:
        scenario = self._plan.scenario
        self._recorder.clock()
        if self._decider is not None:
            self._decider.attach(self._recorder.decision)
        self._field.evidence.tell_clocks(self._recorder)
        self._before = self._field.evidence.host_states()
        self._field.evidence.snapshot(self._rundir.cluster / "before.json")
        with self._enter("warm_up"):
            self._field.open(self._rundir)
            self._monitor.start()
            warm_up(self._field.crew, scenario.probes, self._look, self._stop)
        with self._enter("baseline"):
            self._pass(scenario.baseline)
        self._began, self._wall = now(), time.time_ns()
        self._field.evidence.measure_clocks(self._recorder)
        self._analyst = Analyst(self._rundir)
        with self._enter("timeline"):
            self._timeline.run(self._began, self._look)
        self._snapshot_during()
        with self._enter("heal"):
            self._heal()
        threading.Thread(target=report.warm_up, daemon=True).start()
        with self._enter("settle"):
            self._pass(scenario.settle)
            self._settle_longer()
        with self._enter("drain"):
            evidence, say = self._field.evidence, self._display.say
            drain(self._field.crew, scenario.probes, evidence.ends, self._look, self._stop, say)
            self._monitor.end()
        with self._enter("whole"):
            self._unwell = become_whole(self._field.unhealthy, self._look, self._stop)
        self._collect()

    def _settle_longer(self) -> None:
        """Continue while a transaction may hang, until that can be decided."""
        if not self._field.evidence.transacted():
            return
        within = longest(self._plan.scenario.probes_as_written) + SLACK + SAMPLED_TWICE
        if not settle_longer(self._field.evidence.held, within, self._look, self._stop):
            self._display.say("a last stable offset does not move: readers of committed records get no further")

    def _collect(self) -> None:
        """Record the content of the cluster, once it is whole and no client writes any more."""
        evidence = self._field.evidence
        evidence.snapshot(self._rundir.cluster / "after.json")
        evidence.measure_clocks(self._recorder)
        with self._enter("audit"):
            self._display.say("reading every topic from start to end")
            result = evidence.audit(self._rundir)
            log.info("audit", records=result.records, complete=result.complete, incomplete=result.incomplete)
        if evidence.transacted():
            with self._enter("markers"):
                for line in evidence.markers(self._rundir):
                    self._display.say(f"transactions incomplete: {line}")
        with self._enter("copies"):
            for line in evidence.copies(self._rundir):
                self._display.say(f"replicas: {line}")

    def _snapshot_during(self) -> None:
        """Record the state of the cluster under its first fault, just before that one is undone."""
        path = self._rundir.cluster / "during.json"
        if not path.exists() and not self._stop.is_set():
            self._field.evidence.snapshot(path)

    def _heal(self) -> None:
        self._not_healed = (*self._faults.heal_all(), *self._unwell)
        for problem in self._not_healed:
            self._display.say(f"NOT HEALED: {problem}")

    def _compare_hosts(self) -> None:
        """Compare every host with its state before the run: a difference that chaosk may have caused is not healed."""
        left = differences(self._before, self._field.evidence.host_states())
        self._not_healed += left
        for problem in left:
            self._display.say(f"NOT HEALED: {problem}")

    def _close(self, error: str | None, torn: tuple[str, ...]) -> RunRecord:
        try:
            with self._timed_close():
                closed = close_events(self._rundir)
            streams = {writer: closed.rows.get(writer, {}) for writer in (RUN, *self._field.writers)}
            record = self._record(error, torn + closed.torn, streams)
            self._rundir.run.write_text(record.model_dump_json(indent=2, by_alias=True) + "\n", "utf-8")
        except (EventLogError, OSError) as problem:
            if self._analyst is not None:
                self._analyst.close()
            if self._not_healed:
                raise HealError(
                    f"{'; '.join(self._not_healed)}; and the evidence cannot be written: {problem}"
                ) from problem
            raise EventLogError(
                f"the evidence of this run cannot be written, so there is no verdict ({problem}); everything was "
                f"healed; free some space or name another place with --output"
            ) from problem
        return record

    @contextmanager
    def _timed_close(self) -> Iterator[None]:
        self._field.evidence.tell_clocks(None)
        self._recorder.clock()
        self._recorder.close()
        began = now()
        yield
        self._recorder.durations["close"] = round((now() - began) / 1e9, 3)

    def _record(self, error: str | None, torn: tuple[str, ...], streams: dict[str, dict[str, int]]) -> RunRecord:
        return RunRecord(
            run_id=self._plan.run_id,
            began=self._began,
            wall=self._wall,
            ended=now(),
            healed=not self._not_healed,
            not_healed=self._not_healed,
            interrupted=self._stop.is_set() and self._monitor.breach is None,
            breach=self._monitor.breach,
            error=error,
            entries=self._timeline.ends(),
            aims={life.fault.name: life.fault.aimed for life in self._faults.lives() if life.fault.aimed},
            probes=self._field.crew.ends(),
            torn=torn,
            streams=streams,
            durations=self._recorder.durations,
        )

    @contextmanager
    def _enter(self, phase: str) -> Iterator[None]:
        self._phase = phase
        log.info("phase", phase=phase)
        with self._recorder.phase(phase):
            yield

    def _pass(self, seconds: float) -> None:
        """Wait, and keep the display up to date."""
        end = now() + int(seconds * 1e9)
        while now() < end:
            self._look()
            sleep_until(min(end, now() + 200_000_000), self._stop)

    def _look(self) -> None:
        """Update the display; record the clocks once a second."""
        states = self._field.crew.states()
        doing, coming = self._timeline.current()
        began = self._phase not in ("warm_up", "baseline")
        self._display.show(
            Status(
                phase=self._phase,
                elapsed=(self._pace.now() - self._began) / 1e9 if began else 0.0,
                doing=doing,
                coming=coming,
                probes=self._errors.of(states),
                rates=self._rates.of(states),
                cluster=self._field.watched(),
                stands=self._pace.stands,
                outlook=self._timeline.outlook(self._began if began else self._pace.now()),
                faults=active_faults(self._faults.lives(), self._leases.left()),
            )
        )
