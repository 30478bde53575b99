"""The table of experiments: its ids, those that scenarios name, and the committed page are of one mind."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from chaosk.document import load_variants

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.yaml"))


@pytest.fixture(scope="module")
def bench() -> dict[str, Any]:
    """What the benchmark's file defines, and what it takes from others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
        return runpy.run_path(str(ROOT / "bench/experiments.py"))


def test_all_the_hand_made_ones_have_an_id(bench: dict[str, Any]) -> None:
    """42 of A to G, in groups that count from 1 without a gap, and H for the rest."""
    known = list(bench["EXPERIMENTS"])
    assert len(known) == 43
    assert known == sorted(known, key=lambda one: (one[0], int(one[1:] or 0)))
    groups = {letter: [int(one[1:]) for one in known if one[0] == letter] for letter in "ABCDEFG"}
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in groups.values())


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_covers_what_there_is(bench: dict[str, Any], path: Path) -> None:
    """At least one of the ids, and no other."""
    for scenario in load_variants(path).values():
        assert scenario.covers
        assert set(scenario.covers) <= bench["EXPERIMENTS"].keys()


def test_the_page_is_current(bench: dict[str, Any]) -> None:
    """`./dev bench experiments > docs/experiments.md` would change nothing."""
    page = bench["table"](list(bench["cases"]()), bench["rows"](bench["CSV"]))
    assert (ROOT / "docs/experiments.md").read_text("utf-8") == page


def test_what_was_not_as_expected_is_said(bench: dict[str, Any]) -> None:
    """One run of two that ended otherwise: the cell counts them; an id that nothing covers is listed as such."""
    case = next(case for case in bench["cases"]() if "A1" in case.scenario.covers)
    cluster = next(iter(bench["CLUSTERS"]))
    runs = [
        bench["Row"](cluster, case.name, verdict, right, "90", "")
        for verdict, right in (("pass", "yes"), ("degraded", "no"))
    ]
    page = bench["table"]([case], runs)
    assert page.count("as expected 1 of 2") == len(case.scenario.covers)
    assert "| B1 | the ZooKeeper leader stops and comes back | *none yet* |" in page
    assert "Without a scenario so far: B1, B2," in page


def test_every_row_is_of_a_scenario_that_there_is(bench: dict[str, Any]) -> None:
    """A renamed scenario leaves no verdicts of its old name behind."""
    assert {row.scenario for row in bench["rows"](bench["CSV"])} <= {case.name for case in bench["cases"]()}
