"""The first sentence: what was judged, by the ledger's sums, and what was not."""

from __future__ import annotations

from chaosk.analysis.judge import rule
from chaosk.analysis.summary import summary
from chaosk.rundir.verdict import Account, Guard
from chaosk.spec.expect import Expect


def said(*ledger: Account, guards: tuple[Guard, ...] = ()) -> str:
    """The first sentence of a run with that ledger and nothing found."""
    return summary(rule(Expect(), (), guards, ()), (), ledger)


def test_a_pass_says_what_was_judged() -> None:
    """How many were acknowledged, are in the log at both levels, were delivered to whom, and are not committed."""
    log = Account(topic="orders", reader="", owed=34_507, delivered=34_507)
    readers = Account(topic="orders", reader="readers", owed=34_507, delivered=34_507, uncommitted=26)
    assert said(log, readers) == (
        "PASS: 34,507 acknowledged records, 34,507 in the log at both isolation levels, 34,507 delivered to readers, "
        "26 delivered and uncommitted."
    )


def test_sums_are_over_all_topics() -> None:
    """Each topic has accounts of its own; a reader of both has one sum."""
    accounts = [
        Account(topic=topic, reader=reader, owed=owed, delivered=owed)
        for topic, owed in (("orders", 50), ("bills", 7))
        for reader in ("", "readers")
    ]
    assert said(*accounts) == (
        "PASS: 57 acknowledged records, 57 in the log at both isolation levels, 57 delivered to readers."
    )


def test_what_is_excused_is_not_called_delivered() -> None:
    """It stands beside what was delivered, with the reason."""
    log = Account(topic="orders", reader="", owed=50, delivered=50)
    readers = Account(topic="orders", reader="readers", owed=50, delivered=40, excused={"it came late": 10})
    assert "40 of 50 delivered to readers, 10 excused (it came late)" in said(log, readers)


def test_what_is_not_judged_is_counted() -> None:
    """With the reason; and the sentence is of an inconclusive run."""
    log = Account(topic="orders", reader="", owed=50, delivered=45, not_judged={"nobody told": 5})
    told = said(log, guards=(Guard(guard="not_judged", what="acknowledged records of orders cannot be judged"),))
    assert told.startswith("INCONCLUSIVE: acknowledged records of orders cannot be judged; 50 acknowledged records, ")
    assert told.endswith("45 in the log at both isolation levels, 5 not judged (nobody told).")
