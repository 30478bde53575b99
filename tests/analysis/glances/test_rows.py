"""The rows of a small run as arrays of numbers: the same as the tables, and the same number for the same thing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from analysis.history import History

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.glances.rows import EMPTY, EventRows


def rows(history: History, folder: Path) -> EventRows:
    """What a history's glances see."""
    return EventRows(read_case(history.write(folder / "run")))


def test_columns_are_the_tables_columns(tmp_path: Path) -> None:
    """Numbers as they are, truth as 0 and 1, text by its number, and what is empty as EMPTY."""
    history = History(records=5)
    history.change("sends", {"seq": 3}, offset=None, outcome="info", error="_MSG_TIMED_OUT")
    found = rows(history, tmp_path)
    seqs, offsets, outcomes, errors = found.columns("sends", "seq", "offset", "outcome", "error")
    assert dict(zip(seqs.tolist(), offsets.tolist(), strict=True)) == {0: 0, 1: 1, 2: 2, 3: EMPTY, 4: 4}
    assert set(seqs[outcomes == found.code("outcome", "info")].tolist()) == {3}
    assert set(seqs[errors != EMPTY].tolist()) == {3}
    assert found.column("audit_ranges", "complete").tolist() == [1, 1]
    assert found.count("sends") == 5
    assert found.column("seeks", "offset").size == 0


def test_lists_have_a_length_and_a_first_number(tmp_path: Path) -> None:
    """Each its own, though one before it is empty; and a table without rows has none."""
    history = History()
    for place, replicas in enumerate([[2, 0], [], [7]]):
        history.rows["partitions"][place] |= {"replicas": replicas}
    found = rows(history, tmp_path)
    assert found.firsts("partitions", "replicas")[:4].tolist() == [2, EMPTY, 7, 0]
    assert found.lengths("partitions", "replicas")[:4].tolist() == [2, 0, 1, 3]
    assert found.firsts("brokers", "alive").size == 0


def test_a_value_is_the_same_number_wherever_it_is_seen(tmp_path: Path) -> None:
    """Sent, delivered and audited; a record that is not of this run has none."""
    history = History(records=5)
    history.worker("writer", 1, started=5, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.send(2, 6.0, incarnation=1, offset=5)
    history.read(5, 6.1, producer_incarnation=1, seq=2)
    history.read(6, 6.2, producer=None, producer_incarnation=None, seq=None, intact=False)
    found = rows(history, tmp_path)
    sent, read = found.values("sends"), found.values("reads")
    assert set(sent.tolist()) == set(read.tolist()) - {EMPTY}
    assert len(set(sent.tolist())) == 6
    assert np.count_nonzero(read == EMPTY) == 1
    assert set(found.values("audit").tolist()) < set(sent.tolist())


def test_a_damaged_number_takes_no_memory_for_all_before_it(tmp_path: Path) -> None:
    """A payload that names the 2**61st record of its process is a value among few: same order, same equality."""
    history = History(records=5)
    history.read(6, 6.2, seq=2**61, intact=False)
    history.read(7, 6.3, seq=2**61, intact=False)
    found = rows(history, tmp_path)
    sent, read = found.values("sends"), found.values("reads")
    assert np.all(np.diff(sent[np.argsort(found.column("sends", "seq"))]) > 0)
    damaged = read[found.column("reads", "seq") == 2**61]
    assert damaged.size == 2
    assert len(set(damaged.tolist())) == 1
    assert sent.max() < damaged[0] < 100
    assert found.first_values().tolist() == [0]


def test_processes_begin_at_their_first_values_however_numbers_are_spread(tmp_path: Path) -> None:
    """Each value is seen several times, and counts once: the second process begins right after those of the first."""
    history = History(records=5)
    history.audit(60, producer_incarnation=1, seq=0)
    for far, seq in ((2, 2), (2, 2**61)):
        history.audit(61, producer_incarnation=far, seq=seq)
        found = rows(history, tmp_path)
        assert found.first_values().tolist() == [0, 5, 6]


def test_places_and_processes_are_told_apart(tmp_path: Path) -> None:
    """Partition 1 of one topic is no other's; a process is its probe and its incarnation."""
    history = History(records=4)
    history.send(10, 1.0, topic="other", partition=0)
    history.send(11, 1.0, topic="other", partition=1)
    found = rows(history, tmp_path)
    assert len(set(found.places("sends").tolist())) == 3
    assert len(set(found.processes("incarnations").tolist())) == 2
    assert set(found.processes("sends").tolist()) < set(found.processes("incarnations").tolist())
