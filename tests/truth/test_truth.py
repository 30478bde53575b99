"""The checks against stories whose truth is known, and against the reference: nothing missed, nothing false.

``CHAOSK_HISTORIES`` sets how many stories of each kind are judged; docs/measured/histories.md tells of a long run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from truth.generate import flawless
from truth.havoc import havoc
from truth.judged import AT_ONCE, Make, Tally, answers, differences, judged_rules
from truth.plants import planted
from truth.reference import reference
from truth.shrink import shrink, words
from truth.story import Story
from truth.together import together

from chaosk.analysis import events
from chaosk.analysis.analyze import analyze
from chaosk.analysis.check_runner import checks
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.spark import tune

pytestmark = [pytest.mark.spark, pytest.mark.timeout(7_200)]

EVERY = "CHAOSK_ALL" in os.environ
HISTORIES = int(os.environ.get("CHAOSK_HISTORIES", "30" if EVERY else "3"))
"""Stories of each kind that are judged side by side."""
ALONE = max(2, HISTORIES // 20)
"""Stories that are judged one by one, as runs are: then what spares Spark a question is at work as well."""


def ruined(seed: int) -> Story:
    """A flawless story after havoc."""
    return havoc(flawless(seed))


Checks = dict[str, type[Check]]
KINDS: dict[str, Make] = {"flawless": flawless, "planted": planted, "havoc": ruined}


def judge(
    spark: SparkSession, drawn: Sequence[tuple[str, int]], root: Path, tally: Tally, kinds: Checks | None = None
) -> list[Story]:
    """Judge stories, each of a kind and a seed, side by side by all checks or some; those that were judged wrongly."""
    stories = [KINDS[kind](seed) for kind, seed in drawn]
    wrong = []
    said = answers(spark, stories, root, kinds or judged_rules())
    for (kind, _), story, answer in zip(drawn, stories, said, strict=True):
        before = len(tally.differences)
        tally.add(kind, story, answer)
        wrong += [story] if len(tally.differences) > before else []
    return wrong


def shown(spark: SparkSession, wrong: Story, tally: Tally, root: Path) -> str:
    """The rows that show what a story is judged wrongly about, by the check that the first difference names.

    With ``--all`` alone: to find them takes up to an hour.
    """
    if not EVERY:
        return f"the rows of {wrong.seed} that show it are told with --all"
    rounds = iter(range(1_000))
    check = next(each.check for each in tally.differences if each.seed == wrong.seed)
    kinds = {check: judged_rules()[check]}

    def failing(stories: Sequence[Story]) -> list[bool]:
        rows = answers(spark, stories, root / f"shrinking-{next(rounds)}", kinds)
        unknown = [replace(story, known=False) for story in stories]
        return [
            bool(differences(story, row, reference(story, kinds))) for story, row in zip(unknown, rows, strict=True)
        ]

    return words(shrink(wrong, failing)) if failing([wrong])[0] else f"the reference says the same: {words(wrong)}"


def test_spark_tells_the_truth(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Side by side, of every kind: the evidence is what was planted, and row for row what the reference says."""
    tally, wrong = Tally(), []
    began = time.monotonic()
    for first in range(0, HISTORIES, AT_ONCE):
        seeds = range(first, min(first + AT_ONCE, HISTORIES))
        drawn = [(kind, seed) for kind in sorted(KINDS) for seed in seeds]
        wrong += judge(spark, drawn, tmp_path / f"run-{first}", tally)
    if HISTORIES > AT_ONCE:
        with capsys.disabled():
            sys.stdout.write(f"\n{tally}\n{time.monotonic() - began:.0f} s\n")
    assert not wrong, f"{tally}\n{shown(spark, wrong[0], tally, tmp_path)}"


@pytest.mark.long
def test_spark_tells_the_truth_in_many_partitions(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As large runs are judged: in several partitions, with shuffles and broadcasts; fewer stories by fewer checks.

    A check costs some seconds then, however few rows there are.
    """
    monkeypatch.setattr(events, "SMALL", 0)
    tally, every = Tally(), sorted(judged_rules().items())
    kinds = dict(every if HISTORIES > AT_ONCE else every[::4])
    drawn = [(("planted", "havoc")[seed % 2], seed) for seed in range(1_000, 1_000 + min(HISTORIES, AT_ONCE))]
    try:
        judge(spark, drawn, tmp_path / "run", tally, kinds)
    finally:
        tune(spark, small=True)
    assert not tally.differences, str(tally)


@pytest.mark.long
def test_spark_tells_the_truth_of_one(spark: SparkSession, tmp_path: Path) -> None:
    """One by one, as runs are judged: the screens and glances that spare Spark a question spare it none that counts."""
    tally = Tally()
    for seed in range(2_000, 2_000 + ALONE):
        judge(spark, [(("planted", "havoc")[seed % 2], seed)], tmp_path / str(seed), tally)
    assert not tally.differences, str(tally)


def test_no_check_whatever_finds_anything_in_flawless_stories(spark: SparkSession, tmp_path: Path) -> None:
    """Every check, those without a reference too: no violation, nothing allowed, nothing unproven, on any of them."""
    others = {name: kind for name, kind in checks().items() if name not in judged_rules()}
    rundir = together([flawless(seed) for seed in range(min(HISTORIES, AT_ONCE))], tmp_path / "run")
    verdict = analyze(spark, rundir, others)
    left = {name: state for name, state in verdict.checks.items() if state != "clean"}
    assert left == {}
