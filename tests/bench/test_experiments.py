"""The table of experiments: its ids, those that scenarios name, and the committed page are of one mind."""

from __future__ import annotations

from pathlib import Path

import experiments
import pytest
from _experiments import EXPERIMENTS
from clusters import CLUSTERS, Case, Row, cases, rows

ROOT = Path(__file__).parents[2]
EVERY = list(cases())


def test_all_the_hand_made_ones_have_an_id() -> None:
    """42 of A to G, in groups that count from 1 without a gap, and H for the rest."""
    assert len(EXPERIMENTS) == 43
    groups = {letter: [int(one[1:]) for one in EXPERIMENTS if one[0] == letter and one[1:]] for letter in "ABCDEFG"}
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in groups.values())


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
def test_a_scenario_covers_what_there_is(case: Case) -> None:
    """At least one of the ids, and no other."""
    assert case.scenario.covers
    assert set(case.scenario.covers) <= EXPERIMENTS.keys()


def test_the_page_is_current() -> None:
    """`./dev bench experiments > docs/experiments.md` would change nothing."""
    page = (ROOT / "docs/experiments.md").read_text("utf-8")
    assert page == experiments.table(EVERY, rows(experiments.CSV))


def test_what_was_not_as_expected_is_said() -> None:
    """One run of two that ended otherwise: the cell counts them, and no other cell speaks of it."""
    case = next(case for case in EVERY if "A1" in case.scenario.covers)
    cluster = next(iter(CLUSTERS))
    runs = [
        Row(cluster, case.name, verdict, right, "90", "") for verdict, right in (("pass", "yes"), ("degraded", "no"))
    ]
    page = experiments.table([case], runs)
    assert page.count("as expected 1 of 2") == len(case.scenario.covers)
    assert "| B1 | the ZooKeeper leader stops and comes back | *none yet* |" in page
    assert experiments.uncovered([case]) == [one for one in EXPERIMENTS if one not in case.scenario.covers]


def test_every_row_is_of_a_scenario_that_there_is() -> None:
    """A renamed scenario leaves no verdicts of its old name behind."""
    assert {row.scenario for row in rows(experiments.CSV)} <= {case.name for case in EVERY}
