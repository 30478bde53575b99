"""The phases of a run, in order, and healing whatever happens in them.

::

    warm_up    the watcher and the probes start; every probe has made progress
    baseline   all goes well
    timeline   the faults
    heal       what is still in place is undone, last in, first out
    settle     the probes go on
    drain      producers end, consumers catch up and end
    whole      the cluster is as healthy as preflight demands, or the run says that it is not
    audit      a fresh reader reads every topic
    close      events become Parquet, run.json is written
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from chaosk import report
from chaosk.errors import ChaoskError, EventLogError, HealError, StepError
from chaosk.eventstore import close as close_events
from chaosk.hoststate import differences
from chaosk.plan import Plan
from chaosk.run.actor import FaultActor
from chaosk.run.admission import Admission
from chaosk.run.analyst import Analyst
from chaosk.run.clock import Interrupted, now, sleep_until, wait_for
from chaosk.run.display import Display, Rates, Status
from chaosk.run.drain import behind
from chaosk.run.faults import Faults
from chaosk.run.field import Field
from chaosk.run.here import here
from chaosk.run.journal import Journal
from chaosk.run.monitor import Monitor
from chaosk.run.recorder import Recorder
from chaosk.run.timeline import Timeline
from chaosk.rundir import RunDir
from chaosk.runrecord import Breach, RunRecord

log = structlog.get_logger()

WHOLE_WITHIN = 120.0
"""Seconds that the cluster may take to be healthy again once everything is undone."""
WARM_WITHIN = 60.0
"""Seconds until every probe must have made progress."""
CATCH_UP_WITHIN = 30.0
"""Seconds that consumers may take to read what was written."""


class Engine:
    """One run under way."""

    def __init__(self, plan: Plan, field: Field, rundir: RunDir, display: Display, stop: threading.Event) -> None:
        self._plan = plan
        self._field = field
        self._rundir = rundir
        self._display = display
        self._stop = stop
        self._recorder = Recorder(rundir.live / "run")
        self._faults = Faults(field.hands, Journal(rundir.undo), field.leases(), self._recorder.fault)
        admission = Admission(plan.inventory, plan.scenario.allow, field.foreign.partitions, here(plan.inventory))
        actor = FaultActor(plan, field.hands, self._faults, display, admission, self._snapshot_during)
        self._timeline = Timeline(plan.scenario.timeline, actor, stop)
        self._rates = Rates()
        self._phase = "warm_up"
        self._began = now()
        self._wall = time.time_ns()
        self._breach: Breach | None = None
        self._monitor = Monitor(field.stop_conditions, field.sight(self._held), self._abort)
        self._not_healed: tuple[str, ...] = ()
        self._unwell: tuple[str, ...] = ()
        self._before: dict[str, str] = {}
        self._analyst: Analyst | None = None

    def run(self) -> tuple[RunRecord, Analyst | None]:
        """Run to the end, or heal and stop: how it went, and the analysis that waits to be told to go.

        What happens to the cluster is in the record, not raised. Raises EventLogError if the evidence cannot be
        written, and HealError if then something is left unhealed as well: no record could say so.
        """
        error: str | None = None
        try:
            self._play()
        except Interrupted:
            breach = self._breach
            error = "interrupted" if breach is None else f"ABORTED BY GUARD {breach.condition}: {breach.what}"
        except ChaoskError as broken:
            error = str(broken)
            self._display.say(f"broken off: {error}")
        finally:
            self._heal()
            self._note_healed()
            self._monitor.end()
            self._compare_hosts()
            self._field.crew.abandon()
            torn = self._field.stop_watcher()
        return self._close(error, torn), self._analyst

    def _play(self) -> None:
        scenario = self._plan.scenario
        self._recorder.clock()
        self._before = self._field.host_states()
        self._field.snapshot(self._rundir.cluster / "before.json")
        with self._enter("warm_up"):
            self._warm_up()
        with self._enter("baseline"):
            self._pass(scenario.baseline)
        self._began, self._wall = now(), time.time_ns()
        self._field.measure_clocks(self._recorder)
        self._analyst = Analyst(self._rundir)
        with self._enter("timeline"):
            self._timeline.run(self._began, self._look)
        self._snapshot_during()
        with self._enter("heal"):
            self._heal()
        threading.Thread(target=report.warm_up, daemon=True).start()
        with self._enter("settle"):
            self._pass(scenario.settle)
        with self._enter("drain"):
            self._drain()
        with self._enter("whole"):
            self._become_whole()
        self._field.snapshot(self._rundir.cluster / "after.json")
        self._field.measure_clocks(self._recorder)
        with self._enter("audit"):
            self._display.say("reading every topic from start to end")
            result = self._field.audit(self._rundir)
            log.info("audit", records=result.records, complete=result.complete, incomplete=result.incomplete)

    def _warm_up(self) -> None:
        self._field.open(self._rundir)
        self._monitor.start()
        for probe in self._plan.scenario.probes:
            self._field.crew.start(probe)
        crew = self._field.crew

        def ready() -> bool:
            self._look()
            return bool(crew.dead()) or all(state.ok > 0 for state in crew.states())

        done = wait_for(ready, WARM_WITHIN, self._stop)
        if dead := crew.dead():
            words = "; ".join(end.last_words for end in crew.ends() if end.probe in dead)
            raise StepError(f"{', '.join(dead)}: died before the timeline began: {words}")
        if not done:
            idle = ", ".join(state.probe for state in crew.states() if state.ok == 0)
            raise StepError(f"{idle}: made no progress within {WARM_WITHIN:g} s, before any fault")

    def _drain(self) -> None:
        crew, probes = self._field.crew, self._plan.scenario.probes
        crew.end_all(tuple(name for name, probe in probes.items() if probe.writes))

        def caught_up() -> bool:
            self._look()
            return not behind(probes, crew.states())

        if not wait_for(caught_up, CATCH_UP_WITHIN, self._stop):
            groups = ", ".join(behind(probes, crew.states()))
            self._display.say(f"{groups}: not everything was read within {CATCH_UP_WITHIN:g} s")
        crew.end_all(tuple(probes))
        self._monitor.end()

    def _become_whole(self) -> None:
        """Wait for the health that preflight demands: undoing a cut does not bring back who gave up meanwhile."""
        problems: tuple[str, ...] = ()

        def healthy() -> bool:
            nonlocal problems
            self._look()
            problems = self._field.unhealthy()
            return not problems

        if not wait_for(healthy, WHOLE_WITHIN, self._stop):
            self._unwell = tuple(f"the cluster is not as it was: {problem}" for problem in problems)

    def _snapshot_during(self) -> None:
        """The state of the cluster under its first fault, just before that one is undone."""
        path = self._rundir.cluster / "during.json"
        if not path.exists() and not self._stop.is_set():
            self._field.snapshot(path)

    def _held(self) -> frozenset[str]:
        """The hosts that a fault has in its hands as a whole."""
        faults = self._faults.standing()
        return frozenset(node.id for fault in faults for node in fault.targets if node.kind == "host")

    def _abort(self, breach: Breach) -> None:
        """A stop condition holds: end the run; called from another thread. A run that ends already ends as it does."""
        if self._stop.is_set():
            return
        self._breach = breach
        self._stop.set()
        self._display.say(f"STOP CONDITION {breach.condition}: {breach.what}; healing what is in place")

    def _note_healed(self) -> None:
        """After a breach: when everything was undone."""
        if self._breach is not None and not self._not_healed:
            self._breach = self._breach.model_copy(update={"healed": now()})
            log.info("all healed", **self._breach.model_dump())

    def _heal(self) -> None:
        self._not_healed = (*self._faults.heal_all(), *self._unwell)
        for problem in self._not_healed:
            self._display.say(f"NOT HEALED: {problem}")

    def _compare_hosts(self) -> None:
        """See that every host is as it was: what chaosk can have changed and has not put back is not healed."""
        left = differences(self._before, self._field.host_states())
        self._not_healed += left
        for problem in left:
            self._display.say(f"NOT HEALED: {problem}")

    def _close(self, error: str | None, torn: tuple[str, ...]) -> RunRecord:
        try:
            with self._timed_close():
                torn += close_events(self._rundir)
            record = self._record(error, torn)
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
        self._recorder.clock()
        self._recorder.close()
        began = now()
        yield
        self._recorder.durations["close"] = round((now() - began) / 1e9, 3)

    def _record(self, error: str | None, torn: tuple[str, ...]) -> RunRecord:
        return RunRecord(
            run_id=self._plan.run_id,
            began=self._began,
            wall=self._wall,
            ended=now(),
            healed=not self._not_healed,
            not_healed=self._not_healed,
            interrupted=self._stop.is_set() and self._breach is None,
            breach=self._breach,
            error=error,
            entries=self._timeline.ends(),
            probes=self._field.crew.ends(),
            torn=torn,
            durations=self._recorder.durations,
        )

    @contextmanager
    def _enter(self, phase: str) -> Iterator[None]:
        self._phase = phase
        log.info("phase", phase=phase)
        with self._recorder.phase(phase):
            yield

    def _pass(self, seconds: float) -> None:
        """Let time pass, and keep the display alive."""
        end = now() + int(seconds * 1e9)
        while now() < end:
            self._look()
            sleep_until(min(end, now() + 200_000_000), self._stop)

    def _look(self) -> None:
        """Show how things stand; once a second the clocks are written down."""
        states = self._field.crew.states()
        doing, coming = self._timeline.current()
        self._display.show(
            Status(
                phase=self._phase,
                elapsed=(now() - self._began) / 1e9 if self._phase not in ("warm_up", "baseline") else 0.0,
                doing=doing,
                coming=coming,
                probes=states,
                rates=self._rates.of(states),
                cluster=self._field.watched(),
            )
        )
