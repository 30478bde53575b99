"""Runs side by side: a column each, and every figure that any of them has."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf

import pytest
from sample_history import measured

from chaosk.campaign.history.comparison import MOST, compare, with_lines
from chaosk.campaign.history.history import Figure
from chaosk.campaign.history.series import series
from chaosk.campaign.history.stored_run import StoredRun
from chaosk.core.errors import UsageError
from chaosk.rundir.verdict import Measure, Outcome

Make = Callable[..., StoredRun]


def test_a_column_each_in_the_order_given(make: Make) -> None:
    """With what stands and why."""
    told = compare([make("new", day=5), make("old", verdict=Outcome.INCONCLUSIVE, found=Outcome.INCONCLUSIVE)])
    assert [(run.letter, run.folder.rpartition("/")[2], run.verdict) for run in told.runs] == [
        ("A", "new", Outcome.PASS), ("B", "old", Outcome.INCONCLUSIVE),
    ]  # fmt: skip
    assert told.runs[1].headline.startswith("INCONCLUSIVE")


def test_figures_have_a_column_a_run(make: Make) -> None:
    """The whole run's first, then by window; None where a run has no such figure, or one that is no number."""
    kill = Measure(metric="latency_p99", subject="writer", window="kill", value=10.4, unit="s")
    one = make("a", measures=(kill, measured(3.0), measured(inf, "recovery")))
    two = make("b", measures=(measured(60.0, censored=True), measured(4.0, "of_a_plugin")))
    found = {(row.metric, row.window): row.values for row in compare([one, two]).figures}
    assert list(found) == [("unavailability", "run"), ("of_a_plugin", "run"), ("latency_p99", "kill")]
    assert found["unavailability", "run"] == (
        Figure(value=3.0, unit="s"), Figure(value=60.0, unit="s", censored=True),
    )  # fmt: skip
    assert found["latency_p99", "kill"] == (Figure(value=10.4, unit="s"), None)


def test_lines_are_numbers_for_programs(make: Make) -> None:
    """As many as there are seconds, and none where a run was over: JSON has no word for not a number."""
    runs, notes = [make("a"), make("b", duration=20.0)], list[str]()
    told = with_lines(compare(runs), series(runs, notes), notes)
    assert [line is not None and len(line.acknowledged) for line in told.lines] == [len(told.seconds)] * 2
    assert told.lines[1] is not None
    assert told.lines[1].acknowledged[-1] is None
    assert "NaN" not in json.dumps(json.loads(told.model_dump_json()))


@pytest.mark.parametrize("count", [0, 1, MOST + 1])
def test_one_run_is_not_compared_and_neither_are_too_many(make: Make, count: int) -> None:
    """The message says what to do."""
    run = make("a")
    with pytest.raises(UsageError, match="two to 26 can stand side by side"):
        compare([run] * count)
