"""Every row of a flawless run carries something, or it is said why it does not: docs/measured/rows.md."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from everyrow.judging import Judge, Judged
from everyrow.mutants import NAMES, Flawless, Mutant
from everyrow.reasons import REASONS, reason_of
from everyrow.workloads import WORKLOADS
from pyspark.sql import SparkSession

from chaosk.rundir.verdict import Outcome

RECORD = Path(__file__).parents[2] / "docs/measured/rows.csv"
SAMPLE = 40
"""Mutants of each workload that a sample holds."""


@pytest.fixture(scope="module")
def recorded() -> dict[tuple[str, ...], str]:
    """By mutant the verdict, as it was recorded."""
    with RECORD.open(encoding="utf-8", newline="") as file:
        return {tuple(row[name] for name in NAMES): row["verdict"] for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def flawless(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Flawless]:
    """By workload its flawless run."""
    folder = tmp_path_factory.mktemp("flawless")
    return {name: Flawless(name, make(), folder / name) for name, make in WORKLOADS.items()}


def test_what_was_recorded_is_every_mutant_there_is(
    recorded: dict[tuple[str, ...], str], flawless: dict[str, Flawless]
) -> None:
    """No kind of row and no operator came or went since."""
    names = [mutant.name for one in flawless.values() for mutant in one.mutants()]
    assert len(set(names)) == len(names) > 5_000
    assert set(names) ^ recorded.keys() == set()


def test_what_passes_has_a_reason(recorded: dict[tuple[str, ...], str]) -> None:
    """No mutant passes unexplained."""
    assert [name for name, verdict in recorded.items() if verdict == "pass" and reason_of(name) is None] == []


def test_each_reason_is_of_something_that_passes(recorded: dict[tuple[str, ...], str]) -> None:
    """The list holds nothing that is noticed by now."""
    used = {reason_of(name) for name, verdict in recorded.items() if verdict == "pass"}
    assert [reason for reason in REASONS if reason not in used] == []


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_flawless_run_passes(
    spark: SparkSession, flawless: dict[str, Flawless], tmp_path: Path, workload: str
) -> None:
    """By every rule, and so do two of it side by side: else no mutant would show anything."""
    judge = Judge(spark, flawless[workload], tmp_path)
    assert judge.whole == Judged(str(Outcome.PASS), "")


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.timeout(1_200)
def test_a_sample_is_judged_as_was_recorded(
    spark: SparkSession, recorded: dict[tuple[str, ...], str], flawless: dict[str, Flawless], tmp_path: Path
) -> None:
    """Mutants of one workload, drawn by the day it is not: they pass or do not as they did."""
    assert list(differing(spark, recorded, flawless["transactional"], tmp_path, SAMPLE)) == []


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.timeout(1_200)
def test_one_by_one_as_side_by_side(
    spark: SparkSession, recorded: dict[tuple[str, ...], str], flawless: dict[str, Flawless], tmp_path: Path
) -> None:
    """A few that were judged side by side are judged alone, as runs are: no screen, no glance spares what counts."""
    judge = Judge(spark, flawless["plain"], tmp_path)
    chosen = drawn(flawless["plain"], 6, seed=2)
    said = {mutant.name: judge.alone(mutant).verdict for mutant in chosen}
    assert [name for name, verdict in said.items() if (verdict == "pass") != (recorded[name] == "pass")] == []


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.timeout(14_400)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_mutant_is_judged_as_was_recorded(
    spark: SparkSession, recorded: dict[tuple[str, ...], str], flawless: dict[str, Flawless], tmp_path: Path,
    workload: str,
) -> None:  # fmt: skip
    """All of them: they pass or do not as they did."""
    assert list(differing(spark, recorded, flawless[workload], tmp_path, None)) == []


def differing(
    spark: SparkSession, recorded: dict[tuple[str, ...], str], flawless: Flawless, folder: Path, count: int | None
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Mutants that pass now and did not, or the other way round; each with what is said of it now."""
    for mutant, judged in Judge(spark, flawless, folder)(drawn(flawless, count, seed=1)):
        if (judged.verdict == Outcome.PASS) != (recorded[mutant.name] == Outcome.PASS):
            yield mutant.name, judged.verdict


def drawn(flawless: Flawless, count: int | None, seed: int) -> list[Mutant]:
    """So many mutants of a workload, or all."""
    found = list(flawless.mutants())
    return found if count is None else Random(seed).sample(found, count)  # noqa: S311 - repeatable, not secret
