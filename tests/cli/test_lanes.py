"""Which clusters can be side by side in a gate, and whether this machine has room for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_documents import SCENARIO, written
from sample_gate import unreachable

from chaosk.cli import _lanes
from chaosk.core.errors import LabError, UsageError
from chaosk.document import load_scenario
from chaosk.lab import preflight
from chaosk.spec.scenario import ClusterShape, Scenario


def lab(folder: Path, name: str, text: str = "") -> Path:
    """The inventory of a lab."""
    path = folder / f"{name}.yaml"
    path.write_text(f"lab:\n  name: {name}\n{text}", "utf-8")
    return path


def cluster(folder: Path, port: int, more: str = "") -> Path:
    """The inventory of a cluster that is nowhere."""
    folder.mkdir()
    path = unreachable(folder, port)
    if more:
        path.write_text(path.read_text("utf-8").replace('{"name":', f'{{{more}, "name":', 1), "utf-8")
    return path


def test_one_at_a_time_unless_more_is_asked_for(tmp_path: Path) -> None:
    """Of labs as many as are asked for, of clusters as many as there are, or fewer."""
    two = [lab(tmp_path, "one"), lab(tmp_path, "two")]
    assert [_lanes.count((), asked) for asked in (None, 1, 3)] == [1, 1, 3]
    assert [_lanes.count(two[:1], asked) for asked in (None, 1)] == [1, 1]
    assert [_lanes.count(two, asked) for asked in (None, 1, 2)] == [2, 1, 2]


@pytest.mark.parametrize("asked", [3, 4])
def test_more_than_there_are_clusters_is_refused(tmp_path: Path, asked: int) -> None:
    """A cluster has one run at a time."""
    with pytest.raises(UsageError, match=f"--side-by-side {asked}: a cluster has one run at a time, and .* names 2"):
        _lanes.count([lab(tmp_path, "one"), lab(tmp_path, "two")], asked)


def test_the_same_cluster_twice_is_refused(tmp_path: Path) -> None:
    """By its file, its lab's name, the lab's inventory, or a host; hosts of other networks are others."""
    one, other = cluster(tmp_path / "a", 1), cluster(tmp_path / "b", 1)
    (tmp_path / "c").mkdir()
    twin = lab(tmp_path / "c", "one")
    inside, elsewhere = (
        cluster(tmp_path / name, 1, f'"network_namespace": "chaosk-{name}"') for name in ("three", "four")
    )
    for pair in ([one, one], [one, other], [lab(tmp_path, "one"), twin], [lab(tmp_path, "three"), inside]):
        with pytest.raises(UsageError, match="are the same cluster, or have a host in common; name it once"):
            _lanes.count(pair, None)
    assert _lanes.count([inside, elsewhere], None) == 2


def test_clusters_of_different_shapes_are_refused(tmp_path: Path) -> None:
    """Which of them runs what is chance: a verdict would be, too."""
    with pytest.raises(UsageError, match=r"3 brokers, 3 ZooKeeper nodes, .* 2 brokers, 3 ZooKeeper nodes"):
        _lanes.count([lab(tmp_path, "one"), lab(tmp_path, "two", "  brokers: 2\n")], None)
    with pytest.raises(UsageError, match=r"3 brokers, 3 ZooKeeper nodes, .* 3 brokers, 1 controller;"):
        _lanes.count([lab(tmp_path, "one"), cluster(tmp_path / "a", 1)], None)


@pytest.fixture
def scenarios(tmp_path: Path) -> list[Scenario]:
    """Two: one for a lab of three hosts, one for one of five."""
    small = load_scenario(written(tmp_path, SCENARIO))
    shape = ClusterShape.model_validate({"brokers": 5})
    return [small, small.model_copy(update={"cluster": shape})]


def free(monkeypatch: pytest.MonkeyPatch, megabytes: int) -> None:
    """So much memory is free."""
    monkeypatch.setattr(preflight, "_available_memory", lambda: megabytes * 1000)


def test_memory_for_the_largest_labs_is_seen_to_before(
    monkeypatch: pytest.MonkeyPatch, scenarios: list[Scenario]
) -> None:
    """Two labs of five hosts may come to be up together, and each has a run with its Spark."""
    free(monkeypatch, 2 * (5 * 420 + 1300))
    _lanes.check_room(scenarios, (), 2)
    free(monkeypatch, 2 * (5 * 420 + 1300) - 1)
    with pytest.raises(LabError, match=r"--side-by-side 2: .* need about 6800 MB of memory; 6799 MB are free; ask for"):
        _lanes.check_room(scenarios, (), 2)
    _lanes.check_room(scenarios[:1], (), 2)
    _lanes.check_room(scenarios, (), 1)


def test_memory_for_machines_is_needed_once(monkeypatch: pytest.MonkeyPatch, scenarios: list[Scenario]) -> None:
    """Their runs are made with nothing beside them: the largest of them, or two of the others."""
    machines = scenarios[0].model_copy(update={"cluster": ClusterShape.model_validate({"hosts": "vms"})})
    needed = 2 * 1300 + max(3 * 800, 2 * 3 * 420)
    free(monkeypatch, needed)
    _lanes.check_room([scenarios[0], machines], (), 2)
    free(monkeypatch, 2 * 1300 + 3 * 800)
    _lanes.check_room([machines], (), 2)
    free(monkeypatch, 2 * 1300 + 3 * 800 - 1)
    with pytest.raises(LabError, match="ask for fewer"):
        _lanes.check_room([machines], (), 2)


def test_memory_for_clusters_elsewhere_is_that_of_the_runs(
    monkeypatch: pytest.MonkeyPatch, scenarios: list[Scenario], tmp_path: Path
) -> None:
    """Their hosts have their own; a lab that an inventory describes has this machine's."""
    free(monkeypatch, 2 * 1300)
    _lanes.check_room(scenarios, [cluster(tmp_path / "a", 1), cluster(tmp_path / "b", 5)], 2)
    labs = [lab(tmp_path, "hcno1"), lab(tmp_path, "hcno2", "  hosts: vms\n")]
    free(monkeypatch, 2 * 1300 + 3 * 420 + 3 * 800)
    _lanes.check_room(scenarios, labs, 2)
    free(monkeypatch, 2 * 1300 + 3 * 420 + 3 * 800 - 1)
    with pytest.raises(LabError, match="ask for fewer"):
        _lanes.check_room(scenarios, labs, 2)
