"""Deliveries that do not follow the one before them: found from stretches of polls as they are from each delivery."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from analysis.history import History
from pyspark.sql import SparkSession

from chaosk.analysis import events
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.events import Events
from chaosk.analysis.frames.polled import is_whole, polled, stretches
from chaosk.analysis.frames.steps import steps
from chaosk.analysis.spark import tune
from chaosk.rundir.paths import RunDir

pytestmark = pytest.mark.spark
Said = list[tuple[Any, ...]]


def said(spark: SparkSession, rundir: RunDir) -> tuple[Said, Said]:
    """The steps and what was polled, by the rows."""
    found = Events(spark, read_case(rundir))
    tune(spark, small=found.small)
    try:
        moved = sorted(map(tuple, steps(found).select(*sorted(steps(found).columns)).collect()), key=str)
        whole = sorted(map(tuple, polled(found).select(*sorted(polled(found).columns)).collect()), key=str)
    finally:
        found.release()
        tune(spark, small=True)
    return moved, whole


def large(spark: SparkSession, rundir: RunDir, patch: pytest.MonkeyPatch) -> tuple[Said, Said]:
    """The same, found as in a large run."""
    with patch.context() as patched:
        patched.setattr(events, "SMALL", 0)
        patched.setattr(events, "GLANCED", 0)
        return said(spark, rundir)


def tangled(seed: int) -> History:
    """Polls of a few records of two members and three partitions, by turns, with holes, steps back and repetitions."""
    draw, history = random.Random(seed), History(records=3)  # noqa: S311 - a drawn story, no secret
    history.rows["reads"].clear()
    history.worker("second", kind="consume", group="readers", isolation="read_committed", commit="sync")
    at = dict.fromkeys(((probe, partition) for probe in ("reader", "second") for partition in range(3)), 0)
    number = dict.fromkeys(("reader", "second"), 0)
    for poll in range(40):
        probe = draw.choice(["reader", "second"])
        for _ in range(draw.randint(1, 12)):
            partition = draw.choice([0, 0, 1, 2])
            step = draw.choices([1, 2, 3, -4, 0], [30, 3, 1, 1, 1])[0]
            at[probe, partition] = max(0, at[probe, partition] + step)
            place = {"partition": partition, "assignment": draw.choice([1, 1, 1, 2]) if poll > 20 else 1}
            history.read(at[probe, partition], 2 + poll / 10, probe=probe, n=number[probe], poll=poll, **place)
            number[probe] += draw.choices([1, 2], [30, 1])[0]
    return history


@pytest.mark.parametrize("seed", range(3))
def test_they_are_the_same_ones(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """However polls are tangled: the same rows, from stretches and one by one; and the same sums by poll."""
    rundir = tangled(seed).write(tmp_path / "run")
    moved, whole = said(spark, rundir)
    assert len(moved) > 20
    assert large(spark, rundir, monkeypatch) == (moved, whole)


def test_a_hole_that_another_partition_fills_is_seen(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One poll delivers offset 5, a record of another partition, and offset 7: number and offset move alike."""
    history = History(records=3)
    history.rows["reads"].clear()
    for n, (partition, offset) in enumerate([(0, 4), (0, 5), (1, 0), (0, 7), (0, 8)]):
        history.read(offset, 3, partition=partition, n=n, poll=1)
    rundir = history.write(tmp_path / "run")
    moved, _ = said(spark, rundir)
    assert large(spark, rundir, monkeypatch)[0] == moved
    assert len(moved) == 1
    found = Events(spark, read_case(rundir))
    assert stretches(found).filter(~is_whole()).count() == 1, "the case that it is about"
