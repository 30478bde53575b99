"""What Spark counts of a consumer's calls, for the guard that asks whether it was at work."""

from __future__ import annotations

import pytest
from analysis.conftest import Judge
from analysis.history import History
from analysis.ways import guards, without_calls

pytestmark = [pytest.mark.spark, pytest.mark.long]


def test_no_call_during_a_fault_is_no_progress(judge: Judge) -> None:
    """Neither a poll nor a commit was under way while the leader was dead."""
    assert guards(judge(without_calls(History(records=100), 1, 6))) == {"no_progress"}


@pytest.mark.parametrize("completed", [8.0, None])
def test_a_commit_that_lasted_all_the_fault_is_progress(judge: Judge, completed: float | None) -> None:
    """Near miss: begun before the fault, answered after it or never; a real consumer without brokers does that."""
    history = without_calls(History(records=100), 1, 6)
    history.commit(1, at=0.5, completed=completed)
    assert "no_progress" not in guards(judge(history))
