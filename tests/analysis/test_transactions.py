"""What counts as written where transactions are: committed, or proven by a reader; an acknowledgement alone is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.history import History
from analysis.ways import told

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


def in_transaction(outcome: str) -> History:
    """Records 20 and 21 were sent in one transaction; 21 is nowhere, and 20 only where a test puts it."""
    history = History(records=50)
    for seq in (20, 21):
        history.change("sends", {"seq": seq}, txn="t-1")
        history.drop("reads", offset=seq)
        history.drop("audit", offset=seq)
    history.add("transactions", txn="t-1", initialized=-5.5, begun=4.9, ending=5.5, ended=5.6, outcome=outcome)
    return history


def test_records_of_a_committed_transaction_are_owed(judge: Judge) -> None:
    """A4 and C3: acknowledged and committed, and gone: lost, and the whole of a committed transaction with it."""
    assert told(judge(in_transaction("committed"))) == {"lost": 2, "torn_transaction": 1}


@pytest.mark.parametrize("outcome", ["aborted", "info"])
def test_records_of_an_aborted_or_undecided_transaction_are_not_owed(judge: Judge, outcome: str) -> None:
    """Near miss of A4: the acknowledgement of a send says nothing about its transaction."""
    assert told(judge(in_transaction(outcome))) == {}


def test_a_careful_readers_delivery_proves_an_undecided_transaction(judge: Judge) -> None:
    """A4 and C3: one record of it was read at read_committed, so it did commit, and the other is lost: it is torn."""
    history = in_transaction("info")
    history.read(20, 6)
    history.audit(20)
    history.each("reads", lambda row: row | ({"n": 1000 + row["n"]} if row["offset"] > 20 else {}))
    assert told(judge(history)) == {"lost": 1, "torn_transaction": 1}


def test_a_careless_readers_delivery_proves_nothing(judge: Judge) -> None:
    """Near miss: read_uncommitted shows records of transactions that never commit."""
    history = in_transaction("info")
    history.audit(20)
    history.rows["audit"] = [
        row for row in history.rows["audit"] if row["offset"] != 20 or row["isolation"] == "read_uncommitted"
    ]
    assert told(judge(history)) == {}
