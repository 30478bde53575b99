"""Every guard, one by one: it fires where its evidence is missing, and only then. No Spark: guards are plain Python."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from analysis.history import History, ns
from analysis.test_smallest_runs import without_reader
from analysis.transactional import transactional
from analysis.ways import without_calls

from chaosk.analysis.case import Case
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.guards import guards
from chaosk.analysis.histograms import Histograms, Key
from chaosk.analysis.judge import rule
from chaosk.analysis.must_fail_windows import afterwards
from chaosk.analysis.windows import ALL
from chaosk.rundir.verdict import Guard, Outcome
from chaosk.spec.expect import Expect


def progress_of(case: Case, history: History) -> Histograms:
    """What Spark would count, counted by hand from the rows."""
    found = Histograms(Counter(), Counter(), {}, {})
    rows = [(row["outcome"], row, row["scheduled"], row["scheduled"]) for row in history.rows["sends"]]
    rows += [("read", row, row["at"], row["at"]) for row in history.rows["reads"]]
    rows += [("call", row, row["invoked"], row["completed"]) for row in history.rows["polls"]]
    waited = [row for row in history.rows["commits"] if row["kind"] == "sync"]
    rows += [("call", row, row["invoked"], row["completed"] or case.record.ended) for row in waited]
    for what, row, began, ended in rows:
        spans = (*case.windows, *case.looks, *afterwards(case))
        inside = [window.name for window in spans if window.began <= ended and began < window.ended]
        found.counts.update(Key(what, row["probe"], window) for window in (*inside, ALL))
        if what != "call":
            found.processes[row["probe"], row["incarnation"]] += 1
    return found


@pytest.fixture
def met(tmp_path: Path) -> Any:
    """The guards that a history does not meet, by name."""

    def guarded(history: History) -> dict[str, Guard]:
        case = read_case(history.write(tmp_path / "run"))
        return {guard.guard: guard for guard in guards(case, progress_of(case, history))}

    return guarded


def test_a_whole_run_meets_every_guard(met: Any) -> None:
    """Nothing is missing, so nothing is said."""
    assert met(History(records=50)) == {}


def test_a_fault_that_did_not_take(met: Any) -> None:
    """Not seen to take effect, or gone before it was undone: what was seen is told."""
    history = History(records=50)
    history.change("faults", {"fault": "kill"}, took=False, why="did not last: before undoing it, broker 1 ran")
    found = met(history)
    assert set(found) == {"fault_not_verified"}
    assert "broker 1 ran" in found["fault_not_verified"].what


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_an_entry_that_was_not_carried_out(met: Any, status: str) -> None:
    """A condition that timed out, or a target that was nothing."""
    history = History(records=50)
    history.record["entries"] = [
        {"entry": "kill", "status": status, "why": "the target 'leader(orders, 0)' is nothing"}
    ]
    found = met(history)
    assert set(found) == {"entry_not_done"}
    assert "is nothing" in found["entry_not_done"].what


def test_a_run_of_which_everything_was_skipped_is_no_pass(met: Any) -> None:
    """Somebody said skip before its only fault: nothing happened, so nothing is shown, and who it was is told."""
    history = History(records=50)
    history.record["entries"] = [{"entry": "kill", "status": "skipped", "why": "by anna, 2026-11-25T09:30:12Z"}]
    history.rows["faults"].clear()
    history.add("decisions", at=ns(1), wall=1, who="anna", what="skip", entry="kill")
    found = met(history)
    assert found["step_skipped"].what == "the entry kill skipped: by anna, 2026-11-25T09:30:12Z"
    for expected in (None, *Outcome):
        ruling = rule(Expect(verdict=expected), (), tuple(found.values()), ())
        assert ruling.verdict is Outcome.INCONCLUSIVE, "also where the scenario predicts that nothing will be shown"


def test_an_entry_that_nobody_speaks_of(met: Any) -> None:
    """Neither run.json nor the faults know the entry that was planned."""
    history = History(records=50)
    history.record["entries"] = []
    history.rows["faults"].clear()
    assert "entry_not_done" in met(history)


def test_an_entry_of_which_only_run_json_says_that_it_is_done(met: Any) -> None:
    """Its row could not be written: nobody knows whether it took, or is undone."""
    history = History(records=50)
    history.rows["faults"].clear()
    assert "entry_not_done" in met(history)


def test_a_run_without_faults_needs_none(met: Any) -> None:
    """A plan with an empty timeline misses no fault, and has no time after the last heal."""
    history = History(records=50)
    history.entry = None
    history.record["entries"] = []
    history.rows["faults"].clear()
    assert met(history) == {}


def test_a_fault_that_was_not_undone(met: Any) -> None:
    """The undo was not verified."""
    history = History(records=50)
    history.record |= {"healed": False, "not_healed": ["kill: broker 1 does not answer"]}
    history.change("faults", {"fault": "kill"}, undone=False, healed=None)
    found = met(history)
    assert set(found) == {"not_healed"}
    assert "broker 1 does not answer" in found["not_healed"].what


def test_the_faults_table_alone_can_say_that_it_was_not_undone(met: Any) -> None:
    """run.json claims all is healed, the faults say otherwise: the worse word counts."""
    history = History(records=50)
    history.change("faults", {"fault": "kill"}, undone=False, healed=None)
    assert set(met(history)) == {"not_healed"}


def test_run_json_alone_can_say_that_it_was_not_undone(met: Any) -> None:
    """And the other way round."""
    history = History(records=50)
    history.record["healed"] = False
    assert set(met(history)) == {"not_healed"}


def test_an_interrupted_run(met: Any) -> None:
    """A signal ended the run."""
    history = History(records=50)
    history.record["interrupted"] = True
    assert set(met(history)) == {"run_interrupted"}


def test_a_run_that_broke_off(met: Any) -> None:
    """An error ended the run; a phase has no end."""
    history = History(records=50)
    history.record["error"] = "the connection to node1 was lost"
    history.change("phases", {"phase": "settle"}, ended=None)
    found = met(history)
    assert set(found) == {"run_broken_off"}


def test_a_run_that_was_killed_has_no_run_json(met: Any, tmp_path: Path) -> None:
    """Without run.json nobody knows whether all was undone: not healed, and broken off."""
    history = History(records=50)
    rundir = history.write(tmp_path / "killed")
    rundir.run.unlink()
    case = read_case(rundir)
    assert not case.record.healed
    names = {guard.guard for guard in guards(case, progress_of(case, history))}
    assert {"run_broken_off", "not_healed"} <= names


def test_a_probe_that_died(met: Any) -> None:
    """A probe ended by itself; its last words are told."""
    history = History(records=50)
    history.record["probes"][1] |= {"ended_by": "itself", "exit_status": -11, "last_words": "Segmentation fault"}
    found = met(history)
    assert set(found) == {"probe_died"}
    assert "Segmentation fault" in found["probe_died"].what


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_a_missing_audit(met: Any, isolation: str) -> None:
    """One of the two isolation levels was not audited."""
    history = History(records=50)
    history.drop("audit_ranges", isolation=isolation)
    found = met(history)
    assert set(found) == {"audit_missing"}
    assert "orders-0" in found["audit_missing"].what


def test_a_partition_that_was_not_audited(met: Any) -> None:
    """The topic has two partitions, the audit knows one."""
    history = History(records=50)
    history.topic["partitions"] = 2
    assert "orders-1" in met(history)["audit_missing"].what


def test_an_incomplete_audit(met: Any) -> None:
    """The audit did not get to the end; why is told."""
    history = History(records=50)
    history.change("audit_ranges", {"isolation": "read_committed"}, complete=False, why="no answer from broker 2")
    assert "no answer from broker 2" in met(history)["audit_incomplete"].what


@pytest.mark.parametrize("process", ["writer", "reader"])
def test_a_log_without_an_end_marker(met: Any, process: str) -> None:
    """The process ended without its end marker, and nobody had ended it on purpose."""
    history = History(records=50)
    history.drop("ends", probe=process)
    assert set(met(history)) == {"log_truncated"}


def test_a_process_that_an_entry_killed_needs_no_end_marker(met: Any) -> None:
    """Near miss: it was killed on purpose, and another one went on."""
    history = History(records=50)
    history.drop("ends", probe="reader")
    history.record["probes"][0] |= {"ended_by": "step", "exit_status": -9}
    history.worker("reader", 1, started=7, kind="consume", group="readers", isolation="read_committed", commit="sync")
    assert met(history) == {}


def test_an_end_marker_that_counts_more_rows_than_there_are(met: Any) -> None:
    """Rows are missing in the middle of the log."""
    history = History(records=50)
    history.change("ends", {"probe": "writer"}, rows=51)
    assert set(met(history)) == {"log_truncated"}


def test_records_that_were_due_and_are_not_accounted_for(met: Any) -> None:
    """The producer had more records due than it has rows of."""
    history = History(records=50)
    history.change("ends", {"probe": "writer"}, scheduled=51)
    assert set(met(history)) == {"log_truncated"}


def test_a_torn_stream(met: Any) -> None:
    """A stream's end is missing; that of a process killed on purpose is no surprise."""
    history = History(records=50)
    history.record["torn"] = ["watcher/partitions: cut off at byte 4096"]
    assert set(met(history)) == {"events_torn"}
    history.record["torn"] = ["reader-0/reads"]
    history.record["probes"][0] |= {"ended_by": "step", "exit_status": -9}
    assert "events_torn" not in met(history)


def test_a_clock_that_jumped(met: Any) -> None:
    """The wall clock moved by two seconds against the monotonic one."""
    history = History(records=50)
    history.each("clocks", lambda row: row | {"wall": row["wall"] + (2_000_000_000 if row["monotonic"] > ns(3) else 0)})
    found = met(history)
    assert set(found) == {"clock_jump"}
    assert "+2.000 s" in found["clock_jump"].what


def test_a_clock_that_runs_away_little_by_little(met: Any) -> None:
    """The wall clock gains 0.4 s each second: too little to be told at once, and 11 s in the end."""
    history = History(records=50)
    for number, row in enumerate(history.rows["clocks"]):
        row["wall"] += number * 400_000_000
    assert set(met(history)) == {"clock_jump"}


def test_two_processes_of_one_number(met: Any) -> None:
    """The writer was started again under the number that it had."""
    history = History(records=50)
    history.worker("writer", started=2.0, ends=False, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    assert "process_started_twice" in met(history)


def alone(history: History, began: float) -> History:
    """The same without a reader, and in which nothing was acknowledged from a moment on."""
    without_reader(history)
    history.rows["reads"].clear()
    history.each(
        "sends", lambda row: row | ({"outcome": "fail", "offset": None} if row["invoked"] >= ns(began) else {})
    )
    return history


@pytest.mark.parametrize("succeeded", [False, True])
def test_a_fenced_producer_is_missed_where_it_has_no_successor(met: Any, succeeded: bool) -> None:  # noqa: FBT001
    """It was fenced at 5 s, and from then on nothing was acknowledged to it: another one does the work, or nobody."""
    history = alone(transactional(each=2), 5)
    history.add("errors", probe="writer", incarnation=0, at=5.0, error="_FENCED", message="fenced", fatal=True)
    if succeeded:
        history.probes["new"] = {"produce": {"topic": "orders", "rate": "1/s"}}
        history.worker("new", started=4.9, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
        for number in range(30):
            history.send(number, 5 + number / 2, probe="new", offset=20 + number, txn="n-0", producer_epoch=0)
    missed = met(history).get("no_progress")
    assert (missed is None) is succeeded
    assert succeeded or (missed is not None and missed.what.startswith("writer: "))


@pytest.mark.parametrize(("until", "missed"), [("back", True), (None, False)])
def test_a_client_that_was_to_fail_is_missed_afterwards(met: Any, until: str | None, missed: bool) -> None:  # noqa: FBT001
    """It was to fail from 1.2 s until 7 s, and nothing was acknowledged to it until the end; or it was to fail so long.

    The window after the last heal has begun before 7 s, so that it asks for nothing.
    """
    history = alone(History(records=50), 1.1)
    history.probes["writer"]["produce"]["must_fail"] = {
        "after": {"entry": "kill", "is": "applied", "delay": "0.1s"}, **({} if until is None else {"until": until}),
    }  # fmt: skip
    history.add("faults", fault="back", step="wait", targets="", invoked=7, applied=8, took=True, undone=True)
    assert ("no_progress" in met(history)) is missed


def test_a_machine_that_stood_still(met: Any) -> None:
    """Seven seconds without a sample of the clocks, which are taken each second, and without any other event."""
    history = History(records=50)
    history.rows["clocks"] = [row for row in history.rows["clocks"] if not ns(7) < row["monotonic"] < ns(14)]
    for table, column in (("partitions", "at"), ("polls", "completed"), ("sends", "completed")):
        history.rows[table] = [row for row in history.rows[table] if not ns(7) < row[column] < ns(14)]
    history.rows["ends"][0] |= {"scheduled": 0}
    assert set(met(history)) == {"clock_silent"}


def test_clocks_that_were_not_sampled_while_others_worked(met: Any) -> None:
    """Near miss: only whoever samples the clocks was held up; the probes and the watcher went on."""
    history = History(records=50)
    history.rows["clocks"] = [row for row in history.rows["clocks"] if not ns(7) < row["monotonic"] < ns(14)]
    assert met(history) == {}


@pytest.mark.parametrize(("ago", "guards"), [(1, set()), (8, {"clock_silent"})])
def test_hosts_that_are_slow_before_anything_begins(met: Any, ago: int, guards: set[str]) -> None:
    """Nine seconds to look at the hosts first are no standstill; with a probe begun in the first of them they are."""
    history = History(records=50)
    first = dict(history.rows["clocks"][0])
    history.rows["clocks"].insert(0, {name: value - 9_000_000_000 for name, value in first.items()})
    history.each("incarnations", lambda row: row | {"started": first["monotonic"] - ago * 1_000_000_000})
    assert set(met(history)) == guards


def test_a_cluster_that_nobody_watched(met: Any) -> None:
    """No sample of leaders and replicas."""
    history = History(records=50)
    history.rows["partitions"].clear()
    assert set(met(history)) == {"watcher_silent"}


def test_nothing_happened(met: Any) -> None:
    """No record was sent or read."""
    assert {"nothing_happened", "no_progress"} <= set(met(History()))


def test_a_probe_that_never_got_ready(met: Any) -> None:
    """A planned probe has no process at all."""
    history = History(records=50)
    history.probes["third"] = {"consume": {"topic": "orders", "group": "others"}}
    assert set(met(history)) == {"probe_not_started"}


@pytest.mark.parametrize(
    ("table", "column", "low", "high", "window"),
    [
        ("sends", "scheduled", -5, 0, "baseline"),
        ("sends", "scheduled", 1.1, 6, "kill"),
        ("sends", "scheduled", 6, 30, "after_heal"),
        ("reads", "at", -5, 0, "baseline"),
        ("reads", "at", 6, 30, "after_heal"),
    ],
)
def test_a_phase_without_progress(met: Any, table: str, column: str, low: float, high: float, window: str) -> None:
    """Nothing succeeded before or after the fault, or nothing was even tried while it was in place."""
    history = History(records=100)
    history.rows[table] = [row for row in history.rows[table] if not ns(low) <= row[column] < ns(high)]
    found = met(history)
    assert set(found) == {"no_progress"}
    assert window in found["no_progress"].what


def test_a_reader_that_asked_for_nothing_during_a_fault(met: Any) -> None:
    """It neither polled nor waited for a commit while the leader was dead: nothing shows that it was at work."""
    found = met(without_calls(History(records=100), 1, 6))
    assert set(found) == {"no_progress"}
    assert "reader: not one poll or commit under way in the window kill" in found["no_progress"].what


@pytest.mark.parametrize(("probe", "missed"), [("reader", False), ("writer", True)])
def test_a_reader_that_was_frozen_is_not_missed_meanwhile(met: Any, probe: str, missed: bool) -> None:  # noqa: FBT001
    """Near miss: whoever is frozen calls nobody. That somebody else was frozen is no excuse."""
    history = without_calls(History(records=100), 1, 6)
    history.entry = {"name": "kill", "at": "1s", "pause_probe": {"probe": probe}, "for": "4s"}
    assert set(met(history)) == ({"no_progress"} if missed else set())


@pytest.mark.parametrize("completed", [8.0, None])
def test_a_reader_that_waited_for_a_commit_all_the_time_was_at_work(met: Any, completed: float | None) -> None:
    """Near miss: with every broker down a commit blocks for the whole fault, and no poll is made meanwhile."""
    history = without_calls(History(records=100), 1, 6)
    history.commit(1, at=0.5, completed=completed)
    assert met(history) == {}


def test_a_wait_asks_for_no_progress(met: Any) -> None:
    """A reader without a single poll from 8 to 9 s: held against it during a fault, not while the run just waits."""
    times = {"invoked": 8, "applied": 8.1, "heal_invoked": 8.8, "healed": 8.9, "took": True, "undone": True}
    for step, missed in (("pause_broker", {"no_progress"}), ("wait", set())):
        history = without_calls(History(records=50), 7.5, 9.5)
        history.rows["reads"] = [row for row in history.rows["reads"] if not ns(7.5) < row["at"] < ns(9.5)]
        nothing = {"heal_invoked": None, "healed": None} if step == "wait" else {}
        history.add("faults", **({"fault": "back", "step": step, "targets": ""} | times | nothing))
        assert set(met(history)) == missed


def test_attempts_during_a_fault_are_progress_enough(met: Any) -> None:
    """Near miss: while the fault is in place all sends fail and polls stay empty; that is what faults do."""
    history = History(records=100)
    history.each("sends", lambda row: row | ({"outcome": "fail"} if ns(1) <= row["scheduled"] < ns(6) else {}))
    history.rows["reads"] = [row for row in history.rows["reads"] if not ns(1) <= row["at"] < ns(6)]
    assert met(history) == {}


def test_failures_before_the_fault_are_no_progress(met: Any) -> None:
    """A producer that never succeeded in the baseline tested nothing."""
    history = History(records=100)
    history.each("sends", lambda row: row | ({"outcome": "fail"} if row["scheduled"] < ns(0) else {}))
    assert set(met(history)) == {"no_progress"}


def test_a_probe_that_an_entry_ended_is_not_missed_afterwards(met: Any) -> None:
    """Near miss: the reader was stopped for good by an entry, so nothing is expected of it later."""
    history = History(records=100)
    history.record["probes"][0] |= {"ended_by": "step", "exit_status": 0}
    history.rows["reads"] = [row for row in history.rows["reads"] if row["at"] < ns(6)]
    assert met(history) == {}


def late_reader(started: float) -> History:
    """A run in which the reader's only process was started then, and did nothing before."""
    history = History(records=100)
    history.change("incarnations", {"probe": "reader"}, started=ns(started))
    for table, column in (("reads", "at"), ("polls", "invoked"), ("commits", "invoked")):
        history.rows[table] = [row for row in history.rows[table] if row[column] >= ns(started)]
    return history


@pytest.mark.parametrize("started", [2.0, 7.0])
def test_a_probe_is_not_missed_before_it_was_started(met: Any, started: float) -> None:
    """Near miss: a step starts it in the middle of the fault or after it, so the baseline has nothing of it."""
    assert met(late_reader(started)) == {}


def test_a_probe_that_was_started_late_and_got_nothing_is_missed(met: Any) -> None:
    """Once the cluster is whole again it has to succeed, as everybody does."""
    history = late_reader(2.0)
    history.rows["reads"].clear()
    found = met(history)
    assert set(found) == {"no_progress"}
    assert "reader: not one record delivered in the window after_heal" in found["no_progress"].what


BREACH = {
    "condition": "under_min_isr", "what": "payments-0 has 1 of 3, needs 2", "at": ns(3), "decided": ns(3.25),
    "healed": ns(4.75),
}  # fmt: skip


def test_a_run_that_a_stop_condition_ended(met: Any) -> None:
    """Its reason comes first, with what was seen, when, and how soon everything was undone; it is told once."""
    history = History(records=50)
    history.record |= {"breach": BREACH, "error": "ABORTED BY GUARD under_min_isr: payments-0 has 1 of 3, needs 2"}
    found = met(history)
    assert set(found) == {"aborted_by_guard"}
    what = found["aborted_by_guard"].what
    assert what.startswith("ABORTED BY GUARD under_min_isr, 3.0 s into the timeline: payments-0 has 1 of 3, needs 2")
    assert "decided 0.25 s after it was seen, all undone 1.5 s later" in what


def test_a_stop_condition_before_the_timeline_and_not_healed(met: Any) -> None:
    """It may hold in the baseline already; without a moment of healing none is told."""
    history = History(records=50)
    history.record |= {"breach": {**BREACH, "at": ns(-1), "decided": ns(-0.5), "healed": None}}
    what = met(history)["aborted_by_guard"].what
    assert "before the timeline began" in what
    assert "undone" not in what


def test_the_reason_of_an_abort_comes_first(tmp_path: Path) -> None:
    """Whatever else is missing because the run was cut short."""
    history = History(records=50)
    history.record |= {"breach": BREACH, "entries": []}
    history.rows["faults"].clear()
    case = read_case(history.write(tmp_path / "run"))
    names = [guard.guard for guard in guards(case, progress_of(case, history))]
    assert names[0] == "aborted_by_guard"
    assert "entry_not_done" in names


@pytest.mark.parametrize("how", ["always", {"after": {"entry": "kill", "is": "healed"}}, None])
def test_who_is_to_fail_is_not_asked_for_progress(met: Any, how: object) -> None:
    """Nothing of the writer's was acknowledged after the fault: held against it unless that is what it is there for."""
    history = History(records=100)
    history.probes["writer"]["produce"]["must_fail"] = how
    history.each("sends", lambda row: row | ({"outcome": "fail"} if row["invoked"] >= ns(5) else {}))
    assert ("no_progress" in met(history)) == (how is None)
