"""Coverage: what scenarios try and runs have tried, each once, and what is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sample_run
import shipped
from sample_history import run_of
from sample_inventory import INVENTORY
from sample_run import Shape

from chaosk.campaign.history import coverage as module
from chaosk.campaign.history.coverage import CoverageCell, coverage, of_run, of_scenario
from chaosk.campaign.history.stored_run import stored
from chaosk.core.errors import UsageError
from chaosk.document import load_variants
from chaosk.planning.plan import make
from chaosk.rundir.verdict import Outcome
from chaosk.spec.scenario import Scenario, from_plain

SHIPPED = Path(__file__).parents[2] / "scenarios"
KILL = {"name": "kill", "at": "1s", "kill_broker": {"target": "leader(orders, 0)"}, "for": "5s"}


def document(*timeline: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A scenario of these entries, with one writer and one reader."""
    probes = {"writer": {"produce": {"topic": "orders"}}, "reader": {"consume": {"topic": "orders", "group": "r"}}}
    told = {"name": "Kill", "hypothesis": "It goes on.", "topics": {"orders": {}}, "probes": probes}
    return {**told, "timeline": list(timeline or (KILL,)), **changes}


def scenario(*timeline: dict[str, Any], **changes: Any) -> Scenario:
    """The same, read."""
    return from_plain(Scenario, document(*timeline, **changes))


def run(root: Path, *timeline: dict[str, Any], **changes: Any) -> Any:
    """What a run of it has tried."""
    return of_run(stored(run_of(root, plan={"scenario": document(*timeline)}, **changes)))


def test_a_scenario_counts_once_for_each_pair() -> None:
    """However often its timeline has it."""
    again = {**KILL, "name": "again", "kill_broker": {"target": "leader(orders, 1)"}}
    told = coverage([of_scenario(scenario(KILL, again)), of_scenario(scenario())], [])
    assert told.aims == (CoverageCell(fault="kill", met="leader", scenarios=2, runs=0, verdicts={}),)
    assert {cell.met: cell.scenarios for cell in told.clients}["acks=all"] == 2
    assert told.roles == ("leader",)


def test_waiting_is_no_fault() -> None:
    """It is in no row, and what lives through it has lived through nothing."""
    told = coverage([of_scenario(scenario({"name": "rest", "wait": {"duration": "1s"}}))], [])
    assert (told.aims, told.clients) == ((), ())
    assert "wait" not in told.faults


def test_runs_count_with_their_verdicts(tmp_path: Path) -> None:
    """Of a fault that took."""
    failed = sample_run.fault(Shape()).model_copy(update={"took": False})
    runs = [
        run(tmp_path / "a"),
        run(tmp_path / "b", verdict=Outcome.VIOLATION, found=Outcome.VIOLATION),
        run(tmp_path / "c", faults=(failed,)),
        run(tmp_path / "d", faults=()),
    ]
    told = coverage([of_scenario(scenario())], runs)
    (cell,) = told.aims
    assert (cell.scenarios, cell.runs, cell.verdicts) == (1, 2, {"pass": 1, "violation": 1})
    assert told.runs == 4


def test_what_was_never_tried() -> None:
    """Faults, roles and settings that nothing has, and for each fault that was tried what it could still meet."""
    host = {"name": "cut", "cut_network": {"between": ["host(leader(orders, 0))", "everyone else"]}}
    never = coverage([of_scenario(scenario(KILL, host))], []).never
    assert "pause" in never.faults
    assert "kill" not in never.faults
    assert "coordinator" in never.roles
    assert "leader" not in never.roles
    assert {"acks=0", "transactions", "read_uncommitted"} <= set(never.settings)
    assert "coordinator" in never.aims["kill"]
    assert not {"leader", "probe"} & set(never.aims["kill"])
    assert "leader" not in never.aims["cut_network"]
    assert "acks=0" in never.clients["kill"]
    assert "acks=all" not in never.clients["kill"]


def test_a_run_alone_is_enough(tmp_path: Path) -> None:
    """What was tried was tried, whether its scenario is still there or not."""
    told = coverage([], [run(tmp_path / "a")])
    assert [(cell.met, cell.scenarios, cell.runs) for cell in told.aims] == [("leader", 0, 1)]
    assert "leader" not in told.never.roles


@pytest.mark.parametrize(
    "plan",
    [
        {},
        {"scenario": 7},
        {"scenario": document({"name": "x", "shrink_mtu": {"target": "brokers"}})},
        {"scenario": document({"name": "x"})},
        {"scenario": document(probes={"p": {"nothing": {}}})},
        {"scenario": document(probes={"p": 7})},
        {"scenario": document({**KILL, "kill_broker": {"target": "leadr(orders, 0)"}})},
    ],
)
def test_a_plan_that_is_not_understood_is_a_clear_error(tmp_path: Path, plan: dict[str, Any]) -> None:
    """Of another version, or made up: never a traceback."""
    made = run_of(tmp_path, plan={"scenario": None, **plan})
    with pytest.raises(UsageError, match=r"does not understand|there is no target"):
        of_run(stored(made))


def test_a_plan_with_too_many_probes_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs a client of librdkafka."""
    monkeypatch.setattr(module, "_MOST_PROBES", 1)
    with pytest.raises(UsageError, match="does not understand"):
        run(tmp_path)


@pytest.mark.parametrize("path", shipped.SCENARIOS, ids=lambda path: path.stem)
def test_a_plan_as_it_is_written_is_understood(tmp_path: Path, path: Path) -> None:
    """A run has tried what its scenario tries, once all of it took: nothing is lost on the way through plan.json."""
    fault = sample_run.fault(Shape())
    for number, told in enumerate(load_variants(path).values()):
        faults = [fault.model_copy(update={"name": entry.name, "step": entry.kind}) for entry in told.timeline]
        made = run_of(tmp_path / str(number), faults=tuple(faults))
        made.plan.write_text(make(told, INVENTORY, "run", 1).to_json(), "utf-8")
        one = stored(made)
        assert of_run(one) == replace(of_scenario(told), verdict="pass")
        assert (one.cluster.mode, one.cluster.shape) == ("zookeeper", "3 brokers, 3 ZooKeeper nodes")
