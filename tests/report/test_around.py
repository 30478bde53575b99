"""What surrounds the probes: errors, rebalances and members, read from the events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sample_run import ns, write_table

from chaosk.report.around import MOST_ERRORS, error_rows, surroundings
from chaosk.report.axis import Axis
from chaosk.report.source import Source, read
from chaosk.rundir.paths import RunDir

MakeRun = Callable[..., RunDir]


def errors(names: list[str], probe: str = "writer") -> dict[str, Any]:
    """The table ``errors``, one row a name, a hundredth of a second apart."""
    at = ns(10 + np.arange(len(names)) / 100)
    return {"probe": probe, "incarnation": 0, "at": at, "error": names, "message": "said", "fatal": False}


def test_errors_of_sends_and_of_clients_are_told_together(source: Source, axis: Axis) -> None:
    """By probe and name, with how many."""
    rows = {row.label: int(row.counts.sum()) for row in error_rows(source, surroundings(source, axis))}
    assert rows == {"writer _MSG_TIMED_OUT": 10, "writer _TRANSPORT": 32}


def test_the_same_name_from_both_adds_up(make_run: MakeRun, axis: Axis) -> None:
    """A time-out that a send met and one that the client reported are one row."""
    run = make_run()
    write_table(run, "errors", errors(["_MSG_TIMED_OUT"] * 3))
    source = read(run)
    (row,) = error_rows(source, surroundings(source, axis))
    assert (row.label, int(row.counts.sum())) == ("writer _MSG_TIMED_OUT", 13)


def test_of_many_names_the_most_frequent_are_kept(make_run: MakeRun, axis: Axis) -> None:
    """In order of their names."""
    run = make_run()
    write_table(run, "errors", errors([f"_E{n:02d}" for n in range(40) for _ in range(20 + n)]))
    source = read(run)
    rows = error_rows(source, surroundings(source, axis))
    assert [row.label for row in rows] == [f"writer _E{n:02d}" for n in range(40 - MOST_ERRORS, 40)]


def test_a_rebalance_of_many_partitions_is_one_moment(make_run: MakeRun, axis: Axis) -> None:
    """One row a partition in the table, one happening for a person."""
    run = make_run()
    columns = {
        "probe": "reader", "incarnation": 0, "group": "readers", "at": ns(np.full(50, 12.0)), "kind": "revoke",
        "topic": "orders", "partition": list(range(50)), "assignment": 0, "rebalance": 1,
    }  # fmt: skip
    write_table(run, "assignments", columns)
    assert surroundings(read(run), axis).rebalances == ((int(ns(12.0)), "reader", "revoke"),)


def test_members_are_the_probes_of_a_group(source: Source, axis: Axis) -> None:
    """A producer is in none."""
    around = surroundings(source, axis)
    assert around.members == {"readers": frozenset({"reader"})}
    assert around.clients("readers") == {"reader"}
    assert around.clients("writer") == {"writer"}


def test_an_empty_run_is_surrounded_by_nothing(make_run: MakeRun, axis: Axis) -> None:
    """And nothing is noted, because nothing is damaged."""
    run = make_run()
    for table in run.events.iterdir():
        table.unlink()
    source = read(run)
    around = surroundings(source, axis)
    assert (around.partitions, around.errors, around.rebalances, around.members) == ((), (), (), {})
    assert error_rows(source, around) == ()
    assert source.notes == []
