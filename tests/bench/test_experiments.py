"""The table of experiments: its ids, those that scenarios name, and the committed page are of one mind."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import shipped

from chaosk.document import load_variants

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


def defined(name: str) -> dict[str, Any]:
    """What a file of the benchmarks defines, and what it takes from others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
        return runpy.run_path(str(ROOT / f"bench/{name}.py"))


@pytest.fixture(scope="module")
def bench() -> dict[str, Any]:
    """The benchmark's."""
    return defined("experiments")


@pytest.fixture(scope="module")
def pages() -> dict[str, Any]:
    """Those of the pages."""
    return defined("_pages")


def test_all_the_hand_made_ones_have_an_id(pages: dict[str, Any]) -> None:
    """42 of A to G, in groups that count from 1 without a gap, and by name the kinds beyond."""
    known = list(pages["EXPERIMENTS"])
    assert len(known) == 42
    assert known == sorted(known, key=lambda one: (one[0], int(one[1:])))
    groups = {letter: [int(one[1:]) for one in known if one[0] == letter] for letter in "ABCDEFG"}
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in groups.values())
    kinds = [one for group in pages["KINDS"].values() for one in group]
    assert len(kinds) == len(set(kinds)) > 60
    assert all(re.fullmatch("H/[a-z-]+", one) for one in kinds)


@pytest.mark.parametrize("path", shipped.SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_covers_what_there_is(bench: dict[str, Any], path: Path) -> None:
    """At least one of the ids, and no other."""
    for scenario in load_variants(path).values():
        assert scenario.covers
        assert set(scenario.covers) <= bench["KNOWN"].keys()


def test_the_page_is_current(bench: dict[str, Any]) -> None:
    """`./dev bench experiments` would not change the table."""
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
    assert "| [B1](experiments/B1.md) | the ZooKeeper leader stops and comes back | *none yet* |" in page
    assert "Without a scenario so far: B1, B2," in page


def test_every_row_is_of_a_scenario_that_there_is(bench: dict[str, Any]) -> None:
    """A renamed scenario leaves no verdicts of its old name behind."""
    assert {row.scenario for row in bench["rows"](bench["CSV"])} <= {case.name for case in bench["cases"]()}


def test_the_page_of_each_is_current(bench: dict[str, Any], pages: dict[str, Any]) -> None:
    """`./dev bench experiments` would change none of them, and none is left of an id that is gone."""
    made = pages["pages"](list(bench["cases"]()), bench["rows"](bench["CSV"]))
    assert {path.name: path.read_text("utf-8") for path in (ROOT / "docs/experiments").iterdir()} == made


def test_somebody_wrote_about_each(bench: dict[str, Any], pages: dict[str, Any]) -> None:
    """A question; of A to G what to expect, and what is often got wrong, as well; no text is about anything else."""
    texts = pages["texts"]()
    assert texts.keys() == bench["KNOWN"].keys()
    assert [one for one, text in texts.items() if not text.question] == []
    wordy = [one for one in pages["EXPERIMENTS"] if len(texts[one].expectation.split()) > 50]
    assert wordy == list(pages["EXPERIMENTS"])
    assert all("Often got wrong:" in texts[one].expectation for one in pages["EXPERIMENTS"])


def test_all_that_was_written_is_on_its_page(bench: dict[str, Any], pages: dict[str, Any]) -> None:
    """Of every id, its first paragraph and the others."""
    made = pages["pages"](list(bench["cases"]()), [])
    for one, text in pages["texts"]().items():
        page = made[bench["page_of"](one).partition("#")[0]]
        assert [part for part in text if part not in page] == [], one


def test_a_page_says_what_was_asked_expected_and_measured(bench: dict[str, Any], pages: dict[str, Any]) -> None:
    """Of one scenario and its run: the file, its hypothesis, what it expects as it is written, and what came out."""
    case = next(case for case in bench["cases"]() if "G9" in case.scenario.covers)
    run = bench["Row"]("hosts-3.9-zookeeper", case.name, "pass", "yes", "90", "PASS: 7 | 8 records lost.")
    page = pages["pages"]([case], [run])["G9.md"]
    for part in (
        f"](../../scenarios/{case.path.relative_to(ROOT / 'scenarios')})", case.scenario.hypothesis.strip(),
        "expect:\n  lost_records: {min: 1}", "Expected verdict: **pass**",
        f"| {case.name} | hosts-3.9-zookeeper | pass | yes | PASS: 7 \\| 8 records lost. |",
    ):  # fmt: skip
        assert part in page
    assert "None yet." in pages["pages"]([case], [])["A1.md"]
    assert "No run yet." in pages["pages"]([case], [])["G9.md"]
