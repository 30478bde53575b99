"""The campaign that kills chaosk at every point: a sample of it on a real lab, and that it would notice."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sample_inventory import INVENTORY

pytestmark = pytest.mark.long

CAMPAIGN = Path(__file__).parents[2] / "bench" / "kill_campaign.py"
KILLS = 120


@pytest.fixture(scope="module")
def campaign() -> dict[str, Any]:
    """What the campaign's file defines."""
    return runpy.run_path(str(CAMPAIGN))


def a_field(campaign: dict[str, Any], lease: float) -> Any:
    """Hosts of namespaces that nobody asks."""
    field = campaign["Field"].__new__(campaign["Field"])
    field.lease, field.inventory = lease, INVENTORY
    return field


def row(step: str, **values: Any) -> dict[str, Any]:
    """A trial's outcome as it is written: harmed, undone in time, nothing left."""
    good = {"harmed": True, "undone": 2.9, "whole": 2.9, "differences": [], "late": False}
    return {"trial": {"step": step}, **good, **values}


@pytest.mark.lab
@pytest.mark.timeout(900)
def test_no_host_is_left_harmed(tmp_path: Path) -> None:
    """A hundred and twenty times SIGKILL, at every point of every kind of fault: every host heals itself in time."""
    output = tmp_path / "campaign.jsonl"
    words = ["--n", str(KILLS), "--lab", "killed", "--output", str(output)]
    done = subprocess.run(
        [sys.executable, str(CAMPAIGN), *words], capture_output=True, text=True, check=False, timeout=850
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert len(rows) == KILLS
    assert {each["trial"]["point"] for each in rows} == set(runpy.run_path(str(CAMPAIGN))["POINTS"])


def test_every_step_is_tried_where_it_harms(campaign: dict[str, Any]) -> None:
    """Of the trials of CI each step has one at a point at which its host is harmed, whatever the machine's speed."""
    found = list(campaign["trials"](KILLS, 1))
    harmed = {each.step for each in found if each.point in harmful(each.step)}
    assert harmed == set(campaign["STEPS"])


def harmful(step: str) -> set[str]:
    """The points at which a step has surely harmed: what was restarted is back before it is verified."""
    if step.endswith("supervised"):
        return {"verified"}  # the first deed writes down who starts it again
    return {"injected"} if step.startswith("restart") else {"injected", "verified"}


def test_the_seed_decides_when_chance_kills(campaign: dict[str, Any]) -> None:
    """The same trials again with the same seed; others with another."""
    assert list(campaign["trials"](27, 1)) == list(campaign["trials"](27, 1))
    assert list(campaign["trials"](27, 1)) != list(campaign["trials"](27, 2))


def test_every_step_comes_to_every_point_on_every_host(campaign: dict[str, Any]) -> None:
    """So many trials are all combinations, once."""
    count = len(campaign["STEPS"]) * 7 * 3
    found = {(each.step, each.point, each.host) for each in campaign["trials"](count, 1)}
    assert len(found) == count


@pytest.mark.parametrize(
    ("values", "status"),
    [({}, 0), ({"differences": ["+ iptables :CHAOSK-x -"]}, 1), ({"late": True}, 1), ({"harmed": False}, 1)],
)
def test_what_is_left_late_or_never_harmed_is_a_failure(
    campaign: dict[str, Any], capsys: pytest.CaptureFixture[str], values: dict[str, Any], status: int
) -> None:
    """A campaign that finds a host not healed, or in which nothing was harmed, must not end with 0."""
    rows = [row(step) for step in campaign["STEPS"]]
    rows[3] = row(rows[3]["trial"]["step"], **values)
    assert campaign["report"](rows, 3.0) == status
    assert f"{len(rows)} kills" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("looks", "undone", "whole", "late"),
    [
        ([(0.1, 0.2, True)], 0.0, 0.0, False),
        ([(0.1, 0.2, False), (2.8, 2.9, True)], 2.9, 2.9, False),
        ([(0.1, 0.2, False), (2.8, 2.9, True), (3.5, 3.6, False), (8.9, 9.0, True)], 2.9, 9.0, False),
        ([(0.1, 0.2, False), (3.9, 4.1, False), (4.8, 4.9, True)], 4.9, 4.9, False),
        ([(0.1, 0.2, False), (4.1, 4.2, False), (4.8, 4.9, True)], 4.9, 4.9, True),
        ([(0.1, 0.2, True), (3.1, 3.2, False), (3.9, 4.0, False), (4.4, 4.5, True)], 4.5, 4.5, False),
        ([(0.1, 0.2, True), (3.1, 3.2, False), (4.1, 4.2, False), (4.4, 4.5, True)], 4.5, 4.5, True),
        ([(0.1, 0.2, False), (119.0, 120.5, False)], 120.0, 120.0, True),
    ],
)
def test_times_are_read_off_what_was_seen(
    campaign: dict[str, Any], looks: list[tuple[float, float, bool]], *, undone: float, whole: float, late: bool
) -> None:
    """The first time it is as before counts as undone, the last time as whole; a cut has a second after its lease.

    A busy machine looks seldom: late is only what a look that began after that second still found harmed.
    """
    field = a_field(campaign, 3.0)
    (trial,) = campaign["trials"](1, 1)
    outcome = field.judged(trial, [campaign["Look"](*look) for look in looks], (), ())
    assert (outcome.undone, outcome.whole, outcome.late) == (undone, whole, late)


def test_only_a_broker_that_is_asked_to_stop_has_a_longer_lease(campaign: dict[str, Any]) -> None:
    """Fifteen seconds more for the controller to be asked; from the end of that lease on nothing is excused."""
    field = a_field(campaign, 5.0)
    found = {trial.step: field.length(trial) for trial in campaign["trials"](KILLS, 1)}
    asked = {"stop_broker", "restart_broker"}
    assert found == {step: 20.0 if step in asked else 5.0 for step in campaign["STEPS"]}
    trial = next(trial for trial in campaign["trials"](KILLS, 1) if trial.step == "restart_broker")
    seen = [(18.0, 18.1, False), (22.1, 22.2, False), (23.0, 23.1, True)]
    harmed = [campaign["Look"](*look) for look in seen]
    assert field.judged(trial, harmed, (), ()).late
    assert not field.judged(trial, harmed[::2], (), ()).late
