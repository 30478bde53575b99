"""The smallest runs there are: three records a partition, no fault, and one thing that was not as it should be."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from analysis.conftest import Judge
from analysis.history import History, Row, ns
from analysis.ways import guards, told

from chaosk.rundir.verdict import Outcome, Verdict

pytestmark = pytest.mark.spark

RECORDS = 3
PHASES = (("warm_up", -1, 0), ("timeline", 0, 5), ("settle", 5, 15), ("drain", 15, 16), ("audit", 16, 17))


def tiny(*, reads: bool = True) -> History:
    """A writer, a group of one member where somebody reads, one partition; all records sent, audited and delivered."""
    history = History()
    history.entry = None
    history.record |= {"entries": [], "ended": ns(17)}
    for table in ("faults", "phases"):
        history.rows[table].clear()
    for phase, began, ended in PHASES:
        history.add("phases", phase=phase, began=began, ended=ended)
    for seq in range(RECORDS):
        history.send(seq, seq + 1)
        history.audit(seq)
        if reads:
            history.read(seq, seq + 1.02)
    if reads:
        history.add("groups", offset=RECORDS)
    else:
        without_reader(history)
    return history


def without_reader(history: History) -> None:
    """Nobody reads."""
    del history.probes["reader"]
    history.record["probes"] = [each for each in history.record["probes"] if each["probe"] != "reader"]
    for table in ("incarnations", "ends", "polls", "assignments", "fetched"):
        history.rows[table] = [row for row in history.rows[table] if row["probe"] != "reader"]


def hidden() -> History:
    """Nobody reads, and the audit finds the middle record at read_uncommitted alone."""
    history = tiny(reads=False)
    history.drop("audit", offset=1, isolation="read_committed")
    return history


def cut_off() -> History:
    """The last record was acknowledged and delivered, and the log that the audit finds ends before it."""
    history = tiny()
    history.drop("audit", offset=2)
    return history


def start_moved() -> History:
    """Nothing may delete and no step does; in the end the log begins at 2, so two acknowledged records are gone."""
    history = tiny(reads=False)
    history.topic["config"] |= {"retention.ms": -1, "retention.bytes": -1}
    for offset in (0, 1):
        history.drop("audit", offset=offset)
    history.each("audit_ranges", lambda row: row | {"log_start": 2})
    history.each("offsets", lambda row: row | {"log_start": 2} if row["at"] > ns(10) else row)
    return history


def first_not_given() -> History:
    """A group that was there before the first record, with nothing committed, is given the last two alone."""
    history = tiny()
    history.drop("reads", offset=0)
    history.each("reads", lambda row: row | {"n": row["n"] - 1, "poll": row["poll"] - 1})
    return history


def never_given() -> History:
    """Of two partitions the group's only member is given one, all run long."""
    history = tiny()
    history.topic["partitions"] = 2
    other: Row = {"partition": 1}
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, **other, log_start=0, end=RECORDS, complete=True)
    for row in [*history.rows["partitions"]]:
        history.rows["partitions"].append(row | other)
    for row in [*history.rows["offsets"]]:
        history.rows["offsets"].append(row | other)
    for number in range(RECORDS):
        history.send(RECORDS + number, number + 1.1, offset=number, **other)
        history.audit(number, seq=RECORDS + number, **other)
    return history


def revoked() -> History:
    """The partition is taken after the second record, and given to no member again."""
    history = tiny()
    history.drop("reads", offset=2)
    history.add("assignments", at=2.5, kind="revoke")
    history.change("groups", {"group": "readers"}, offset=2)
    return history


def test_one_in_which_all_went_well_passes(judge: Judge) -> None:
    """All three records sent, audited at both levels, delivered and committed: PASS, with nothing found or guarded."""
    verdict = judge(tiny())
    assert (verdict.verdict, told(verdict), guards(verdict)) == (Outcome.PASS, {}, set())


def test_hidden_from_careful_readers_is_not_in_the_log(judge: Judge) -> None:
    """An acknowledged plain record that read_committed does not show is A4's, though read_uncommitted has it."""
    verdict = judge(hidden())
    assert verdict.verdict is Outcome.VIOLATION
    assert "A4" in rules(verdict)


def test_read_and_cut_off_afterwards_is_lost(judge: Judge) -> None:
    """A record that was acknowledged and delivered, beyond the audited end: truncated after it was read."""
    verdict = judge(cut_off())
    assert verdict.verdict is Outcome.VIOLATION
    assert rules(verdict) & {"A4", "A15"}


def test_first_record_that_a_group_is_not_given_is_owed_to_it(judge: Judge) -> None:
    """What a group is owed begins where it was told to begin, and not at what it happened to be given first."""
    verdict = judge(first_not_given())
    assert verdict.verdict is Outcome.VIOLATION
    assert rules(verdict) & {"A5", "B3", "B7"}


@pytest.mark.parametrize("make", [start_moved, never_given, revoked])
def test_what_nobody_can_vouch_for_never_passes(judge: Judge, make: Callable[[], History]) -> None:
    """A log start that nothing explains, and a partition that no member holds: a violation, or not to be judged."""
    assert judge(make()).verdict in (Outcome.VIOLATION, Outcome.INCONCLUSIVE)


def rules(verdict: Verdict) -> set[str]:
    """The rules that were broken."""
    return {finding.rule for finding in verdict.findings if finding.severity == "violation"}
