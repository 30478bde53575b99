"""A fault that nobody felt proves nothing: somebody whom the objectives are about was at work while it lasted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.history import History, Row, ns
from analysis.test_guards import progress_of

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.guards import guards
from chaosk.core.plugins import discover
from chaosk.spec.contracts.step import Step


@pytest.fixture
def met(tmp_path: Path) -> Any:
    """The guards that a history does not meet, by name, and what they say."""

    def guarded(history: History) -> dict[str, str]:
        case = read_case(history.write(tmp_path / "run"))
        return {guard.guard: guard.what for guard in guards(case, progress_of(case, history))}

    return guarded


def idle(history: History, *tables: str, began: float = 0.9, ended: float = 6.1) -> History:
    """Nothing was under way for some time around the fault."""
    columns = {"sends": ("scheduled", "completed"), "polls": ("invoked", "completed"), "reads": ("at", "at")}
    for table in tables:
        first, last = columns[table]
        history.rows[table] = [r for r in history.rows[table] if r[last] < ns(began) or r[first] > ns(ended)]
    return history


def ended_by_a_step(history: History, *probes: str) -> History:
    """A step had ended these probes before the fault, and so nobody misses their progress."""
    for end in history.record["probes"]:
        if end["probe"] in probes:
            end["ended_by"] = "step"
    return history


def test_a_fault_that_a_probe_was_at_work_for(met: Any) -> None:
    """Any probe will do where the scenario names none: a consumer that polls, a producer that sends in vain."""
    assert met(History(records=50)) == {}
    sending = ended_by_a_step(idle(History(records=250), "polls", "reads"), "reader")
    assert "fault_unfelt" not in met(sending)
    polling = ended_by_a_step(idle(History(records=250), "sends"), "writer")
    assert "fault_unfelt" not in met(polling)
    failing = History(records=250)
    failing.each("sends", lambda row: row | {"outcome": "fail", "error": "_MSG_TIMED_OUT", "offset": None})
    assert "fault_unfelt" not in met(failing)


def test_a_fault_after_a_step_had_ended_all_probes(met: Any) -> None:
    """Nobody sent, polled or asked while the broker was dead: it proves nothing, whoever ended them."""
    history = idle(History(records=250), "sends", "polls", "reads")
    found = met(ended_by_a_step(history, "writer", "reader"))
    assert set(found) == {"fault_unfelt"}
    assert found["fault_unfelt"].startswith("while kill was in place no probe attempted anything")


@pytest.mark.parametrize(
    ("expect", "felt"),
    [
        ({"unavailability": {"writer": "5s"}}, False),
        ({"unavailability": {"writer": {"max": "5s", "during": "kill"}}}, False),
        ({"latency_p99": {"of": ["writer"], "max": "5s"}}, False),
        ({"errors": {"writer": {"may": ["_TRANSPORT"]}}}, False),
        ({"rebalances": {"readers": {"max": 5}}}, True),
        ({"unavailability": {"writer": {"max": "5s", "during": "baseline"}}}, True),
        ({"unavailability": "5s", "lost_records": 0}, True),
    ],
)
def test_those_that_the_objectives_are_about_count(met: Any, expect: Row, *, felt: bool) -> None:
    """The reader polled on, which says nothing where the writer's figures are what the scenario asks for."""
    history = ended_by_a_step(idle(History(records=250), "sends"), "writer")
    history.expect = expect
    assert ("fault_unfelt" not in met(history)) is felt


def test_a_close_that_was_asked_for_meanwhile_is_work(met: Any) -> None:
    """A consumer hangs in a commit from before the fault on, which leaves no row, and is asked to end meanwhile."""
    history = ended_by_a_step(idle(History(records=250), "sends", "polls", "reads"), "writer", "reader")
    history.beside = [{"name": "close", "at": "2s", "stop_probe": {"probe": "reader"}}]
    assert "fault_unfelt" in met(history)
    history.add("faults", fault="close", step="stop_probe", targets="probe reader", invoked=2.0, applied=4.5,
                heal_invoked=None, healed=None, took=True, undone=True, why=None)  # fmt: skip
    assert "fault_unfelt" not in met(history)
    history.change("faults", {"fault": "close"}, applied=2.1)  # at once: nothing of the fault was in its way
    assert "fault_unfelt" in met(history)


def momentary(history: History, step: str, *, at: float = 1) -> History:
    """The fault is over as soon as it was done, and leaves nothing to undo."""
    target = {"probe": "writer"} if step.endswith("_probe") else {"target": "broker 1"}
    history.entry = {"name": "kill", "at": f"{at}s", step: target}
    history.change("faults", {"fault": "kill"}, step=step, invoked=ns(at), applied=ns(at + 0.01),
                   heal_invoked=None, healed=None)  # fmt: skip
    return history


def test_a_fault_of_a_moment_is_felt_by_what_comes_next(met: Any) -> None:
    """Connections are reset in ten milliseconds; the next send came two seconds later, or only after six."""
    soon = idle(momentary(History(records=250), "reset_connections"), "sends", "polls", "reads", ended=3)
    assert "fault_unfelt" not in met(soon)
    late = idle(momentary(History(records=250), "reset_connections"), "sends", "polls", "reads", ended=7)
    assert "fault_unfelt" in met(late)


@pytest.mark.parametrize("step", ["kill_probe", "stop_probe", "pause_probe", "start_probe", "start_broker"])
def test_a_step_on_clients_and_one_that_puts_right_need_nobody(met: Any, step: str) -> None:
    """They say so themselves, by their contract."""
    assert "fault_unfelt" not in met(idle(momentary(History(records=250), step), "sends", "polls", "reads", ended=9))


def test_which_steps_are_about_clients() -> None:
    """Those on the process of a probe, and no other: what is done to brokers, hosts and names is theirs to feel."""
    about = {name for name, kind in discover("chaosk.steps", Step).items() if kind.about_clients}
    assert about == {"kill_probe", "pause_probe", "start_probe", "stop_probe"}


def test_a_fault_that_did_not_take_is_told_once(met: Any) -> None:
    """It was not there to be felt."""
    history = ended_by_a_step(idle(History(records=250), "sends", "polls", "reads"), "writer", "reader")
    history.change("faults", {"fault": "kill"}, took=False, why="broker 1 ran")
    assert set(met(history)) == {"fault_not_verified"}


@pytest.mark.parametrize("both", [False, True])
def test_each_fault_has_to_be_felt(met: Any, *, both: bool) -> None:
    """All probes were ended between two faults: the first one was felt, the second one was not."""
    history = History(records=250)
    history.beside = [{"name": "later", "at": "7s", "kill_broker": {"target": "broker 2"}, "for": "1s"}]
    history.record["entries"].append({"entry": "later", "status": "done"})
    history.add("faults", fault="later", step="kill_broker", targets="broker 2 on node3", invoked=7, applied=7.1,
                heal_invoked=8.1, healed=9, took=True, undone=True)  # fmt: skip
    if not both:
        ended_by_a_step(idle(history, "sends", "polls", "reads", began=6.5, ended=30), "writer", "reader")
    found = met(history)
    assert ("fault_unfelt" not in found) is both
    assert both or found["fault_unfelt"].startswith("while later was in place no probe attempted anything")
