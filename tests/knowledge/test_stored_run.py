"""One run directory: what it tells of its cluster, and what cannot be a run's is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sample_history import inventory, run_of

from chaosk.campaign.history.folders import find
from chaosk.campaign.history.stored_run import Cluster, judged, stored
from chaosk.core.errors import UsageError


def test_what_a_cluster_was(tmp_path: Path) -> None:
    """Name, version, who keeps its metadata, and its shape in the words of a gate."""
    zookeeper = stored(run_of(tmp_path / "one")).cluster
    assert zookeeper == Cluster(name="staging", kafka="3.9.2", mode="zookeeper", shape="3 brokers, 3 ZooKeeper nodes")
    kraft = stored(run_of(tmp_path / "two", kafka="4.1.0", plan={"inventory": inventory(kraft=True)})).cluster
    assert (kraft.mode, kraft.shape) == ("kraft", "3 brokers, 1 controller")


@pytest.mark.parametrize("plan", ["{", "[]", '{"inventory": 7}', '{"inventory": {"brokers": [1]}, "kafka": null}'])
def test_a_plan_that_says_nothing_leaves_the_cluster_empty(tmp_path: Path, plan: str) -> None:
    """The verdict is what counts; nothing is guessed."""
    run = run_of(tmp_path)
    run.plan.write_text(plan)
    assert stored(run).cluster == Cluster(name="", kafka="", mode="", shape="")


@pytest.mark.parametrize(
    "changes", [{"wall": 1 << 62}, {"wall": -1}, {"began": 1 << 70}, {"duration": 1e300}, {"duration": -1.0}]
)
def test_times_that_no_run_has_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    """They would end in arithmetic that has no answer."""
    with pytest.raises(UsageError, match="gives times that no run has; judge it again"):
        stored(run_of(tmp_path, **changes))


@pytest.mark.parametrize("duration", ["Infinity", "NaN"])
def test_a_duration_that_is_no_number_is_refused(tmp_path: Path, duration: str) -> None:
    """JSON as it is read here has words for those."""
    run = run_of(tmp_path)
    document = json.loads(run.verdict.read_text()) | {"duration": 12345.678}
    run.verdict.write_text(json.dumps(document).replace("12345.678", duration))
    with pytest.raises(UsageError, match="gives times that no run has"):
        stored(run)


def test_runs_without_a_verdict_join_what_is_passed_over(tmp_path: Path) -> None:
    """Unfinished, damaged, and a link to a verdict that is not the run's; each with its reason."""
    run_of(tmp_path / "good")
    run_of(tmp_path / "unfinished").verdict.unlink()
    run_of(tmp_path / "damaged").verdict.write_text("{")
    linked = run_of(tmp_path / "linked")
    linked.verdict.rename(tmp_path / "verdict.json")
    linked.verdict.symlink_to(tmp_path / "verdict.json")
    found = find([tmp_path])
    assert [one.run.root.name for one in judged(found)] == ["good"]
    whys = {each.folder.name: each.why for each in found.passed}
    assert whys["unfinished"].startswith("no verdict yet; judge the run with `chaosk analyze")
    assert whys["damaged"].startswith("verdict.json: cannot be read: 1 of its fields")
    assert whys["linked"].startswith("verdict.json: is a symbolic link")
