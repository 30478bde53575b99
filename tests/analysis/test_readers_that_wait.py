"""D2: what has waited for a reader, also where it never got it, and before it got anything at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.history import History, Row, ns
from analysis.ways import finding, measure, told

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]
CHECK = "consume_unavailability"


def never_read(history: History, began: float, ended: float, *, audited: bool) -> None:
    """Records that were sent in a stretch are delivered to nobody, and found by the audit or not."""
    mine = {row["seq"] for row in history.rows["sends"] if ns(began) <= row["scheduled"] < ns(ended)}
    history.rows["reads"] = [row for row in history.rows["reads"] if row["seq"] not in mine]
    if not audited:
        history.rows["audit"] = [row for row in history.rows["audit"] if row["seq"] not in mine]


@pytest.mark.proves("consume_unavailability", "fires")
@pytest.mark.parametrize("audited", [True, False])
def test_records_that_are_never_read_have_waited(judge: Judge, *, audited: bool) -> None:
    """A reader stays with a deposed leader: from 2 s to 12 s it gets nothing, and what was acknowledged then is lost.

    It goes on with records that are acknowledged after that: none of those has waited, and those that are lost have.
    """
    history = History(records=250)
    never_read(history, 2, 12, audited=audited)
    verdict = judge(history, CHECK)
    assert measure(verdict, "unavailability", "reader") == pytest.approx(10, abs=0.21)
    assert measure(verdict, "unavailability", "reader", "kill") == pytest.approx(10, abs=0.21)
    row = finding(verdict, CHECK).evidence[0]
    assert row["seconds"] == pytest.approx(10, abs=0.21)
    assert not row["censored"]


@pytest.mark.proves("consume_unavailability", "near miss")
def test_a_lost_record_does_not_wait_for_ever(judge: Judge) -> None:
    """Near miss: one record is lost at 2 s; two stretches without any send, long after it, are none of its doing."""
    history = History(records=250)
    for began, ended in ((8, 11), (14, 17)):
        mine = {row["seq"] for row in history.rows["sends"] if ns(began) <= row["scheduled"] < ns(ended)}
        for table in ("sends", "reads", "audit"):
            history.rows[table] = [row for row in history.rows[table] if row["seq"] not in mine]
    never_read(history, 2, 2.05, audited=False)
    assert told(judge(history, CHECK), "information") == {}


def test_what_is_delivered_again_has_not_waited(judge: Judge) -> None:
    """Near miss: nothing is sent for four seconds, and in the middle of them the last record is delivered once more."""
    history = History(records=250)
    mine = {row["seq"] for row in history.rows["sends"] if ns(8) <= row["scheduled"] < ns(12)}
    for table in ("sends", "reads", "audit"):
        history.rows[table] = [row for row in history.rows[table] if row["seq"] not in mine]
    history.read(min(mine) - 1, 10.5)
    verdict = judge(history, CHECK)
    assert measure(verdict, "unavailability", "reader") == 0


def test_a_reader_waits_from_when_it_was_given_the_partition(judge: Judge) -> None:
    """It was given the partition before the baseline, and got its first record at 9 s, though it could have at -5 s."""
    history = History(records=250)
    history.each("reads", lambda row: row | {"at": max(row["at"], ns(9))})
    verdict = judge(history, CHECK)
    assert measure(verdict, "unavailability", "reader") == pytest.approx(14, abs=0.21)
    assert measure(verdict, "unavailability", "reader", "baseline") == pytest.approx(14, abs=0.21)


@pytest.mark.proves("consume_unavailability", "no evidence")
def test_a_reader_that_never_gets_anything_waits_until_it_is_told_to_end(judge: Judge) -> None:
    """Not one record of a partition that it holds: from when its position must be known, to the drain's end."""
    history = History(records=250)
    history.rows["reads"].clear()
    verdict = judge(history, CHECK)
    row = finding(verdict, CHECK).evidence[0]
    assert row["censored"] is True
    assert measure(verdict, "unavailability", "reader") == pytest.approx(25.9, abs=0.31)


def test_what_was_sent_before_it_came_is_none_of_its_business(judge: Judge) -> None:
    """Near miss: a reader that is given its partition when nothing is sent any more may have begun at the end."""
    history = History(records=250)
    history.rows["reads"].clear()
    history.each("assignments", lambda row: row | {"at": ns(19.95)})
    assert measure(judge(history, CHECK), "unavailability", "reader") == 0


def test_the_first_delivery_of_a_quick_reader_is_no_outage(judge: Judge) -> None:
    """Near miss: the partition is given at 3 s with records behind it, and read from then on."""

    def late(row: Row) -> Row:
        return row | {"at": max(row["at"], ns(3.4))}

    history = History(records=250)
    history.each("assignments", lambda row: row | {"at": ns(3)})
    history.each("fetched", lambda row: row | {"invoked": ns(3.1), "completed": ns(3.2)})
    history.each("reads", late)
    assert measure(judge(history, CHECK), "unavailability", "reader") == 0
