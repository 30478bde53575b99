"""What differs: every setting that does and none that does not, in the order of the plans."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import sample_run
from sample_history import inventory
from sample_run import Shape

from chaosk.campaign.history import differences as module
from chaosk.campaign.history.differences import Difference, differences
from chaosk.campaign.history.stored_run import StoredRun, stored

Make = Callable[..., StoredRun]


def plan(**changes: Any) -> dict[str, Any]:
    """The sample's plan with parts of its scenario replaced."""
    return {"scenario": sample_run.plan(Shape())["scenario"] | changes}


def test_equal_plans_differ_in_nothing(make: Make) -> None:
    """Another day and another folder are no difference between plans."""
    assert differences([make("a"), make("b", day=3)]) == ()


def test_version_mode_and_brokers(make: Make) -> None:
    """A cluster by what decides an outcome; the inventory's addresses are not compared."""
    found = differences([make("a"), make("b", kafka="4.1.0", plan={"inventory": inventory(kraft=True)})])
    assert found == (
        Difference(group="cluster", setting="kafka", values=("3.9.2", "4.1.0")),
        Difference(group="cluster", setting="mode", values=("zookeeper", "kraft")),
        Difference(
            group="cluster", setting="shape", values=("3 brokers, 3 ZooKeeper nodes", "3 brokers, 1 controller")
        ),
    )


def test_variables_and_what_one_run_alone_has(make: Make) -> None:
    """A setting that a run does not have is None there."""
    found = differences([make("a", plan=plan(variables={"down": "30s"})), make("b", plan=plan(settle="10s"))])
    assert [(each.group, each.setting, each.values) for each in found] == [
        ("variables", "down", ("30s", None)),
        ("settle", "", (None, "10s")),
    ]


def test_an_entry_that_is_put_in_does_not_make_the_others_differ(make: Make) -> None:
    """Entries are matched by their names, not by their places."""
    kill = {"name": "kill", "at": "10s", "kill_broker": {"target": "leader(orders, 0)"}}
    wait = {"name": "rest", "wait": {"seconds": "5s"}}
    found = differences([make("a", plan=plan(timeline=[kill])), make("b", plan=plan(timeline=[wait, kill]))])
    assert [(each.setting, each.values) for each in found] == [("rest.wait.seconds", (None, "5s"))]


def test_targets_are_compared_as_they_were_resolved(make: Make) -> None:
    """The same expression hit another broker."""
    other = sample_run.fault(Shape()).model_copy(update={"targets": "broker 2 on node2"})
    (found,) = differences([make("a"), make("b", faults=(other,))])
    assert (found.group, found.setting) == ("targets as resolved", "kill")
    assert found.values == ("broker 1 on node1", "broker 2 on node2")


@pytest.mark.parametrize("document", ["{", '{"scenario": [1]}', '{"scenario": {"timeline": [7]}}', "null"])
def test_a_plan_that_cannot_be_read_lacks_everything(make: Make, document: str) -> None:
    """It stands beside the others all the same."""
    broken = make("b")
    broken.run.plan.write_text(document)
    found = differences([make("a"), stored(broken.run)])
    assert ("cluster", "kafka", ("3.9.2", None)) in [(each.group, each.setting, each.values) for each in found]


def test_a_plan_made_to_fill_memory_is_cut(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Depth, names and number of settings are bounded: each leaf's path would repeat all the names above it."""
    monkeypatch.setattr(module, "MOST", 50)
    deep: Any = "x"
    for _ in range(200):
        deep = {"n" * 5000: deep}
    made = make("b", plan=plan(variables={"deep": deep} | {f"v{n}": str(n) for n in range(1000)}))
    found = differences([make("a"), made])
    assert len(found) <= 100
    assert max(len(each.setting) for each in found) < 2000
    assert json.dumps([each.model_dump() for each in found])
