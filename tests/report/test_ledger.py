"""The ledger in the report: one line an account, and the sum beside it."""

from __future__ import annotations

from chaosk.report.ledger import ledger_rows
from chaosk.rundir.verdict import Account


def account(reader: str = "", **answers: object) -> Account:
    """An account of orders, of 100 records unless told otherwise."""
    fields = {"topic": "orders", "reader": reader, "owed": 100, "delivered": 100, **answers}
    return Account.model_validate(fields)


def test_the_log_comes_first_and_says_so() -> None:
    """Then each reader; what a group has not committed stands beside what it was given."""
    log, group = ledger_rows([account("readers", uncommitted=26), account()])
    assert (log.whom, log.owed, log.delivered, log.sum, log.state) == ("the log", "100", "100", "100", "all there")
    assert (group.whom, group.delivered) == ("readers", "100 (26 not committed)")


def test_reasons_are_told_with_how_many() -> None:
    """The most first, and the sum of them before; a single one stands alone."""
    (row,) = ledger_rows(
        [account(delivered=10, violation=20, excused={"retention": 5, "acks=1": 45}, not_judged={"no end marker": 20})]
    )
    assert row.excused == "50: 45 acks=1; 5 retention"
    assert row.not_judged == "20: no end marker"
    assert (row.violation, row.sum, row.state) == ("20", "100", "violation")


def test_a_sum_that_is_wrong_is_seen() -> None:
    """It is never told as if all were there."""
    (row,) = ledger_rows([account(delivered=90)])
    assert (row.sum, row.state) == ("90, not 100", "wrong sum")


def test_the_worst_answer_is_the_state() -> None:
    """Not judged outranks excused."""
    (open_one,) = ledger_rows([account(delivered=98, excused={"x": 1}, not_judged={"y": 1})])
    (excused,) = ledger_rows([account(delivered=99, excused={"x": 1})])
    assert (open_one.state, excused.state) == ("not judged", "excused")
