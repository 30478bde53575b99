"""Chaosk's own trouble is not the cluster's: who stood still is told, and what it did not do is held against nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.conftest import Judge
from analysis.history import History, Row, ns
from analysis.test_guards import progress_of

from chaosk.analysis.case import TimeSpan
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.completeness import incomplete
from chaosk.analysis.guards import guards
from chaosk.analysis.outages import Outage, awake
from chaosk.analysis.stillness import still, told
from chaosk.rundir.verdict import Measure, Outcome
from chaosk.spec.metrics import METRICS

pytestmark = pytest.mark.long

Gap = tuple[float, float]


def beating(history: History, **gaps: Gap) -> History:
    """Every process of a history has beaten four times a second, but for the gaps of ``writer``, ``reader``, ..."""
    for name in ("writer", "reader", "watcher"):
        low, high = gaps.get(name, (99.0, 99.0))
        for quarter in range(-24, 85):
            at = quarter / 4
            if not low < at < high:
                writer = name if name == "watcher" else f"{name}-0"
                history.rows["heartbeats"].append({"writer": writer, "at": ns(at), "late": 0})
    return history


@pytest.fixture
def met(tmp_path: Path) -> Any:
    """The guards that a history does not meet, by name, and what they say."""

    def guarded(history: History) -> dict[str, str]:
        case = read_case(history.write(tmp_path / "run"))
        return {guard.guard: guard.what for guard in guards(case, progress_of(case, history))}

    return guarded


def test_whoever_goes_on_is_not_told_of(met: Any) -> None:
    """Beats all along, late by up to a second as on a busy machine; a run without any is of an older version."""
    assert met(beating(History(records=50))) == {}
    assert met(beating(History(records=50), writer=(3.0, 4.0))) == {}
    assert met(History(records=50)) == {}


@pytest.mark.parametrize(("name", "guard"), [("writer", "probe_stood_still"), ("watcher", "watcher_stood_still")])
def test_whoever_stood_still_is_told_with_the_time(met: Any, name: str, guard: str) -> None:
    """Stopped for eight seconds while the others went on."""
    found = met(beating(History(records=50), **{name: (7.0, 15.0)}))
    assert set(found) == {guard}
    assert f"{name} stood still for 8.0 s from +7.0 s on" in found[guard]


def test_a_machine_that_stood_still_is_told_once(met: Any) -> None:
    """Nothing at all was written for nine seconds: that guard says so, and not each process once more."""
    history = History()
    history.rows["clocks"] = [row for row in history.rows["clocks"] if not ns(6.5) < row["monotonic"] < ns(15.5)]
    for table, column in (("partitions", "at"), ("polls", "completed")):
        history.rows[table] = [row for row in history.rows[table] if not ns(6.5) < row[column] < ns(15.5)]
    gap = (6.5, 15.5)
    found = met(beating(history, writer=gap, reader=gap, watcher=gap))
    assert "clock_silent" in found
    assert not {"probe_stood_still", "watcher_stood_still"} & set(found)


def paused(history: History, began: float, ended: float) -> History:
    """An entry of its own froze the reader."""
    history.entry = {"name": "freeze", "at": "1s", "pause_probe": {"probe": "reader"}, "for": "4s"}
    history.record["entries"] = [{"entry": "freeze", "status": "done"}]
    times = {"invoked": ns(began), "applied": ns(began + 0.2), "heal_invoked": ns(ended), "healed": ns(ended + 0.2)}
    history.change("faults", {"fault": "kill"}, fault="freeze", step="pause_probe", targets="probe reader", **times)
    return history


def test_one_that_a_step_froze_was_to_stand_still(met: Any) -> None:
    """`pause_probe` of just that probe; another one that stands still meanwhile, or this one for longer, is told of."""
    history = paused(History(records=50), 5, 10)
    assert met(beating(history, reader=(5.0, 10.25))) == {}
    assert set(met(beating(paused(History(records=50), 5, 10), writer=(5.0, 10.0)))) == {"probe_stood_still"}
    found = met(beating(paused(History(records=50), 5, 10), reader=(5.0, 18.0)))
    assert "reader stood still for 6.8 s" in found["probe_stood_still"]


def test_one_that_stood_still_until_it_was_killed(tmp_path: Path) -> None:
    """Its last beat came long before the step that killed it: nobody froze it on purpose."""
    history = beating(History(records=50), reader=(5.0, 30.0))
    history.entry = {"name": "end", "at": "1s", "kill_probe": {"probe": "reader"}}
    history.change("faults", {"fault": "kill"}, fault="end", step="kill_probe", targets="probe reader",
                   invoked=ns(12), applied=ns(12.1), heal_invoked=None, healed=None)  # fmt: skip
    history.drop("ends", probe="reader")
    case = read_case(history.write(tmp_path / "run"))
    assert still(case) == (TimeSpan("reader", ns(5), ns(12)),)


def test_its_figures_are_at_least_so_much(tmp_path: Path) -> None:
    """What it would have done meanwhile nobody knows, in the windows of that time and in no other."""
    case = read_case(beating(History(records=50), writer=(7.0, 15.0)).write(tmp_path / "run"))
    windows = {window.name: window for window in case.windows}
    assert incomplete(case, ["writer"], windows["run"])
    assert not incomplete(case, ["reader"], windows["run"])
    assert not incomplete(case, ["writer"], windows["baseline"])


def test_an_outage_is_told_without_the_time_its_probe_slept(tmp_path: Path) -> None:
    """Eight of nine seconds without an acknowledgement were chaosk's own; an outage beside them stays whole."""
    case = read_case(beating(History(records=50), writer=(7.0, 15.0)).write(tmp_path / "run"))
    asleep = Outage("writer", ns(6.9), ns(15.2))
    beside = Outage("writer", ns(1), ns(3))
    into = Outage("writer", ns(4), ns(15.1), censored=True)
    assert awake(case, [asleep, beside, into]) == [beside, Outage("writer", ns(4), ns(7))]
    assert awake(case, [Outage("reader", ns(6.9), ns(15.2))]) == [Outage("reader", ns(6.9), ns(15.2))]


def figure(metric: str, subject: str, window: str = "run", *, censored: bool = False) -> Measure:
    """One second, or one of what the metric counts."""
    return Measure(
        metric=metric, subject=subject, window=window, value=1.0, unit=METRICS[metric].unit, censored=censored
    )


def test_figures_that_it_would_distort_are_left_out(tmp_path: Path) -> None:
    """Of that probe, in windows of that time, and of a fault from which nobody could tell the recovery; no others."""
    case = read_case(beating(History(records=50), writer=(7.0, 15.0)).write(tmp_path / "run"))
    out = [
        figure("latency_p99", "writer"), figure("availability", "writer", "after_heal"), figure("recovery", "kill"),
        figure("connect_latency_max", "writer, broker 1"),
    ]  # fmt: skip
    kept = [
        figure("latency_p99", "writer", "baseline"), figure("latency_p99", "writer", "kill"),
        figure("end_to_end_p99", "reader"), figure("unavailability", "writer"), figure("election", "orders"),
        figure("acknowledgements", "writer", censored=True), figure("lost_records", "orders"),
    ]  # fmt: skip
    assert list(told(case, [*out, *kept])) == [*(one.model_copy(update={"value": None}) for one in out), *kept]
    awake_all_along = read_case(beating(History(records=50)).write(tmp_path / "other"))
    assert list(told(awake_all_along, out)) == out


def test_a_recovery_is_left_out_only_where_it_was_held_up(tmp_path: Path) -> None:
    """Who stood still before the fault had woken by then."""
    case = read_case(beating(History(records=50), writer=(-4.0, -1.0)).write(tmp_path / "run"))
    assert list(told(case, [figure("recovery", "kill")])) == [figure("recovery", "kill")]


def stalled(row: Row) -> Row:
    """A send or delivery whose outcome came only when its probe woke."""
    columns = [name for name in ("invoked", "completed", "at") if name in row]
    if not ns(7) <= row[columns[-1]] < ns(15):
        return row
    return row | {name: ns(15) + (row[name] - ns(7)) // 1_000 for name in columns}


def test_the_cluster_is_not_blamed(judge: Judge) -> None:
    """A writer stopped from outside for eight seconds: inconclusive by name, with no figure of those seconds."""
    history = beating(History(records=250), writer=(7.0, 15.0))
    history.expect = {"unavailability": {"writer": "2s"}, "latency_p99": {"writer": "1s"}}
    history.each("sends", stalled)
    history.each("reads", stalled)
    verdict = judge(history, "produce_unavailability", "latency")
    assert verdict.verdict is Outcome.INCONCLUSIVE
    assert "probe_stood_still" in {guard.guard for guard in verdict.guards}
    figures = {(m.metric, m.subject, m.window): m.value for m in verdict.measures}
    assert figures["unavailability", "writer", "run"] == 0
    assert figures["latency_p99", "writer", "run"] is None
    assert figures["latency_p99", "writer", "baseline"] is not None
    assert {one.metric: one.met for one in verdict.objectives} == {"unavailability": True, "latency_p99": None}
