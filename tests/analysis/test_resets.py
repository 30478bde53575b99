"""A5, B1, B3, B7: positions that are out of range during the run: what is owed after a reset to either end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.history import History, ns
from analysis.test_retention import SHORT, settings
from analysis.ways import guards, told

from chaosk.rundir.verdict import Outcome

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]

CHECKS = ("unseen", "poll_skip", "commit_skip", "reset_jump", "lost", "poll_order", "redelivery")
"""Those that are asked here."""


def reset(to: int, *, policy: str) -> History:
    """The reader stood at 10 from 0 s on; retention deleted up to 20 at 8 s, and at 9 s it was given ``to`` next."""
    history = settings(History(records=50), cleanup_policy="delete", retention_ms=500, retention_bytes=-1, **SHORT)
    history.probes["reader"]["consume"]["config"] = {"auto.offset.reset": policy}
    history.rows["audit"] = [row for row in history.rows["audit"] if row["offset"] >= 20]
    history.each("audit_ranges", lambda row: row | {"log_start": 20})
    history.each("offsets", lambda row: row | ({"log_start": 20} if row["at"] >= ns(8) else {}))
    history.rows["reads"] = [row for row in history.rows["reads"] if not 10 <= row["offset"] < to]
    history.each("reads", lambda row: row | ({"at": max(row["at"], ns(9))} if row["offset"] >= to else {}))
    history.commit(50, 20.9)
    history.add("groups", offset=50)
    return history


@pytest.mark.parametrize("policy", ["earliest", "latest"])
def test_a_reset_to_the_first_record_that_is_left_is_right(judge: Judge, policy: str) -> None:
    """10 to 19 were deleted before the reader came to them, and it went on with 20: nothing more is owed."""
    verdict = judge(reset(20, policy=policy))
    assert (verdict.verdict, told(verdict), guards(verdict)) == (Outcome.PASS, {}, set())


@pytest.mark.proves("poll_skip", "fires")
@pytest.mark.proves("unseen", "fires")
@pytest.mark.proves("commit_skip", "fires")
@pytest.mark.parametrize("policy", ["earliest", "latest"])
def test_a_reset_to_the_end_loses_what_the_log_still_had(judge: Judge, policy: str) -> None:
    """It went on with 28, the end of the log: 20 to 27 were there, and a reset is no beginning."""
    found = told(judge(reset(28, policy=policy)))
    assert found == {"poll_skip": 1, "unseen": 8, "commit_skip": 8}


@pytest.mark.parametrize(("to", "found"), [(20, {}), (28, {"reset_jump": 1, "unseen": 8, "commit_skip": 8})])
def test_a_reset_as_a_partition_is_given_is_no_beginning_either(judge: Judge, to: int, found: dict[str, int]) -> None:
    """The same at 8.9 s in a new assignment, in which the committed offset 10 was found."""
    history = reset(to, policy="latest")
    history.commit(10, 0.5)
    history.add("assignments", at=8.8, kind="revoke")
    history.add("assignments", at=8.85, assignment=1, rebalance=1)
    history.add("fetched", offset=10, invoked=8.86, completed=8.9)
    history.each("reads", lambda row: row | ({"assignment": 1} if row["offset"] >= to else {}))
    assert told(judge(history)) == found
