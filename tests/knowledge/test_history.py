"""Rows over time: in order, in groups, with what was measured and no more."""

from __future__ import annotations

from datetime import UTC, datetime
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from sample_history import FIRST, measured, run_of

from chaosk.campaign.history.history import Figure, HistoryRow, chosen, groups, row
from chaosk.campaign.history.stored_run import stored
from chaosk.rundir.verdict import Outcome


def told(root: Path, metrics: tuple[str, ...] = ("unavailability",), **changes: Any) -> HistoryRow:
    """The row of a run that is made at ``root``."""
    return row(stored(run_of(root, **changes)), metrics)


def test_what_is_told_of_a_run(tmp_path: Path) -> None:
    """When, on what, what stands and what was said to be found, and its figures; what it lacks is None."""
    found = told(tmp_path, ("unavailability", "recovery"), measures=(measured(11.02),))
    assert found.began == datetime.fromtimestamp(FIRST / 1e9, tz=UTC)
    assert (found.scenario, found.cluster.name) == ("Kill the leader under load", "staging")
    assert (found.verdict, found.expected, found.as_expected) == (Outcome.PASS, None, True)
    assert found.figures == {"unavailability": Figure(value=11.02, unit="s"), "recovery": None}


@pytest.mark.parametrize(
    ("changes", "as_expected"),
    [
        ({"verdict": Outcome.PASS, "found": Outcome.VIOLATION, "expected": Outcome.VIOLATION}, True),
        ({"verdict": Outcome.VIOLATION, "found": Outcome.VIOLATION}, False),
        ({"verdict": Outcome.DEGRADED, "found": Outcome.DEGRADED}, False),
        ({"verdict": Outcome.PASS, "healed": False}, False),
    ],
)
def test_whether_it_was_expected(tmp_path: Path, changes: dict[str, Any], *, as_expected: bool) -> None:
    """A predicted violation is; one that nobody predicted is not; nor is a cluster that was left unhealed."""
    assert told(tmp_path, **changes).as_expected is as_expected


@pytest.mark.parametrize("value", [inf, nan, None])
def test_what_is_no_number_was_not_measured(tmp_path: Path, value: float | None) -> None:
    """So JSON stays JSON, and no bar is drawn for it."""
    assert told(tmp_path, measures=(measured(value),)).figures == {"unavailability": None}


def test_rows_are_chosen_and_in_order(tmp_path: Path) -> None:
    """Oldest first; by a word of the name whatever its case, and from a moment on."""
    rows = [told(tmp_path / str(day), day=day, scenario=name) for day, name in ((2, "Cut"), (0, "Kill"), (1, "Kill"))]
    assert [each.scenario for each in chosen(rows, None, None)] == ["Kill", "Kill", "Cut"]
    assert [each.scenario for each in chosen(rows, "CU", None)] == ["Cut"]
    assert chosen(rows, None, rows[2].began) == [rows[2], rows[0]]


def test_groups_are_by_scenario_version_and_mode(tmp_path: Path) -> None:
    """A version of ten comes after one of nine; order within a group is kept."""
    made = [("B", "3.9.2"), ("A", "3.10.0"), ("A", "3.9.2"), ("A", "3.10.0"), ("A", None)]
    rows = [told(tmp_path / str(n), day=n, scenario=name, kafka=kafka) for n, (name, kafka) in enumerate(made)]
    found = groups(rows)
    assert [(group.scenario, group.kafka, len(group.rows)) for group in found] == [
        ("A", "", 1), ("A", "3.9.2", 1), ("A", "3.10.0", 2), ("B", "3.9.2", 1),
    ]  # fmt: skip
    assert found[2].rows == (rows[1], rows[3])


@pytest.mark.parametrize("version", ["9" * 5000, "x.y", "3..9", "\u0663.9", "²"])
def test_any_text_may_be_a_version(tmp_path: Path, version: str) -> None:
    """A plan from elsewhere may say anything."""
    assert [group.kafka for group in groups([told(tmp_path, kafka=version)])] == [version]
