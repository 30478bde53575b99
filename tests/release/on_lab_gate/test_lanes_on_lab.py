"""`chaosk gate --side-by-side 2` on labs: two shapes to their end, and two runs interrupted, continued and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import pytest
import yaml
from gates_on_lab import CUT, end, folder_of, is_cut, read_until, records
from on_lab import until

from chaosk import lab
from chaosk.campaign.gate.record import load
from chaosk.document import load_scenario
from chaosk.lab.state import names
from chaosk.run.cluster_choice import layout_for
from chaosk.rundir.record import RunRecord

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900), pytest.mark.long]

SHAPES = ("15023", "15029")
"""Of a setting that changes nothing here: labs of these tests' own, small ones, whatever else is up."""

Gate = Callable[..., subprocess.Popen[str]]


def scenario(folder: Path, name: str, shape: str, seconds: int) -> Path:
    """A cut of so many seconds on a lab of that shape."""
    cluster = {"brokers": 2, "zookeepers": 1, "config": {"log.cleaner.backoff.ms": shape}}
    told = yaml.safe_load(CUT) | {"name": name, "cluster": cluster}
    told["topics"]["orders"] = {"partitions": 2, "replication_factor": 2}
    told["timeline"][0]["for"] = f"{seconds}s"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(told), "utf-8")
    return folder / f"{name}.yaml"


def lab_of(path: Path) -> str:
    """What the lab is called that a scenario is run on."""
    return layout_for(load_scenario(path)).name


@pytest.fixture
def labs(tmp_path: Path) -> Iterator[list[str]]:
    """The labs of both shapes in the first lane; those of both lanes are taken down afterwards."""
    found = [lab_of(scenario(tmp_path / "shapes", f"s{shape}", shape, 1)) for shape in SHAPES]
    yield found
    for name in found:
        for each in (name, f"{name}-2"):
            lab.down(each, print, force=True)


@pytest.fixture
def gate(labs: list[str], tmp_path: Path) -> Iterator[Gate]:
    """Starts `chaosk gate` with two lanes in a folder of its own, and kills what is left of it before the labs."""
    assert labs
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str | Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "chaosk", "gate", *map(str, words)]
        if "--continue" not in words:
            command += ["--side-by-side", "2", "--output", str(tmp_path / "gates")]
        settings = {**os.environ, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings, start_new_session=True)
        started.append(process)
        return process

    yield begin
    end(started)


def overlap(one: RunRecord, other: RunRecord) -> bool:
    """Whether two runs were under way at the same time, by this machine's monotonic clock."""
    return max(one.began, other.began) < min(one.ended, other.ended)


def test_two_shapes_side_by_side(gate: Gate, labs: list[str], tmp_path: Path) -> None:
    """Three pass in two lanes, each on its own lab; no more than one lab a lane stays; the report has their order."""
    for name, shape in zip(("one", "three", "two"), (SHAPES[0], SHAPES[1], SHAPES[0]), strict=True):
        scenario(tmp_path / "scenarios", name, shape, 3)
    process = gate(tmp_path / "scenarios")
    out, _ = process.communicate(timeout=800)
    assert process.returncode == 0, out
    place = folder_of(tmp_path / "gates")
    told = load(place)
    assert [one.scenario for one in told.attempts] == ["one", "two", "three"]
    assert [one.lab for one in told.attempts] == [labs[0], labs[0], labs[1]]
    assert {(one.state, one.exit_code) for one in told.attempts} == {("done", 0)}
    assert {one.cluster for one in told.attempts} == {"2 brokers, 1 ZooKeeper node"}
    assert (told.attempts[0].lane, told.attempts[2].lane) == (1, 2)
    went = records(place)
    assert [record.healed for record in went] == [True] * 3
    assert any(overlap(one, other) for one, other in combinations(went, 2))
    assert told.seconds is not None
    assert told.seconds < sum(one.seconds or 0.0 for one in told.attempts)
    up = [name for name in names() if name.removesuffix("-2") in labs]
    assert len(up) == 2
    assert len([name for name in up if name.endswith("-2")]) == 1
    assert "3 of 3 runs passed" in (place / "gate.md").read_text("utf-8")
    assert "side by side 2 runs at a time" in (place / "gate.md").read_text("utf-8")


def test_both_lanes_are_interrupted_continued_and_killed(gate: Gate, labs: list[str], tmp_path: Path) -> None:
    """Ctrl-C ends and heals both runs; killed outright the gate can do neither, and both runs do it all the same."""
    paths = [scenario(tmp_path / "scenarios", name, SHAPES[0], 60) for name in ("one", "two")]
    first = gate(*paths)
    inventories = [lab.inventory(name) for name in (labs[0], f"{labs[0]}-2")]
    read_until(first, "cut: verified")
    read_until(first, "cut: verified")
    first.send_signal(signal.SIGINT)
    out, _ = first.communicate(timeout=300)
    assert first.returncode == 130, out
    place = folder_of(tmp_path / "gates")
    assert [is_cut(each) for each in inventories] == [False, False]
    assert [(one.state, one.exit_code) for one in load(place).attempts] == [("broken off", 130)] * 2
    assert f"go on with: chaosk gate --continue {place}" in out

    second = gate("--continue", place)
    read_until(second, "[1] ", "[2] ")
    until(lambda: all(map(is_cut, inventories)), 200.0)
    second.kill()
    second.wait()
    assert second.stdout is not None
    second.stdout.close()
    until(lambda: not any(map(is_cut, inventories)), 60.0)
    until(lambda: len(records(place)) == 4, 60.0)
    assert [(record.interrupted, record.healed) for record in records(place)] == [(True, True)] * 4
