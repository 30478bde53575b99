"""What a run showed to be wrong, by kinds."""

from __future__ import annotations

import pytest
from sample_explore import inconclusive, missed, passed, violated
from sample_run import objective, verdict

from chaosk.campaign.explore.breach import breaches, gravest
from chaosk.rundir.verdict import Outcome, Verdict


@pytest.mark.parametrize(
    ("what", "all_of_them", "found"),
    [
        (passed(), (), ()),
        (inconclusive(), (), ()),
        (missed(), ("lost_records",), ("lost_records",)),
        (violated("lost", "inconsistent_offset"), ("lost_records",), ("lost_records",)),
        (
            violated("send_order", "late_write"),
            ("reordered_records", "late_write"),
            ("reordered_records", "late_write"),
        ),
    ],
)
def test_the_kinds_of_a_verdict(what: Verdict, all_of_them: tuple[str, ...], found: tuple[str, ...]) -> None:
    """One root is one kind: a loss is a loss whether rules or an objective forbid it, and a log that was cut is one."""
    assert breaches(what) == all_of_them
    assert gravest(what) == found


def test_a_violation_outweighs_a_missed_objective() -> None:
    """It is what was found; the objective is told as well."""
    slow = objective("unavailability", "writer", 40.0, maximum=20.0)
    what = violated("lost").model_copy(update={"objectives": (slow,)})
    assert breaches(what) == ("lost_records", "unavailability")
    assert gravest(what) == ("lost_records",)


def test_what_does_not_fail_shows_nothing() -> None:
    """A run that is inconclusive may have missed objectives: its evidence does not carry."""
    slow = objective("unavailability", "writer", 40.0, maximum=20.0)
    what = verdict(verdict=Outcome.INCONCLUSIVE, found=Outcome.INCONCLUSIVE, objectives=(slow,))
    assert breaches(what) == ()


def test_what_was_predicted_is_no_breach() -> None:
    """A space about a wrong setting is searched for what else goes wrong."""
    what = violated("lost", "late_write")
    first, second = what.findings
    told = (first.model_copy(update={"predicted": True}), second.model_copy(update={"predicted": False}))
    assert breaches(what.model_copy(update={"findings": told})) == ("late_write",)
