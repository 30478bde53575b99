"""Outages: those that the checks found, from all of their evidence."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from sample_run import ns, outage, verdict

from chaosk.report import outages as module
from chaosk.report.outages import PartitionOutage, outages
from chaosk.report.source import read
from chaosk.rundir.paths import RunDir

MakeRun = Callable[..., RunDir]


def evidence(partition: int, began: float, ended: float) -> dict[str, Any]:
    """A row of evidence/produce_unavailability.jsonl."""
    row = {"producer": "writer", "topic": "orders", "partition": partition, "censored": False}
    return {**row, "began": int(ns(began)), "ended": int(ns(ended))}


def test_they_come_from_the_verdicts_evidence(make_run: MakeRun) -> None:
    """Without a file of evidence its first rows are in the verdict."""
    found = verdict(findings=(outage("produce_unavailability", "writer", (0, 3), 10, 21),))
    first, second = outages(read(make_run(found)))
    assert (first.who, first.kind, first.place) == ("writer", "produce", ("orders", 0))
    assert second.seconds == pytest.approx(10.997)


def test_the_file_of_evidence_has_all_of_them(make_run: MakeRun) -> None:
    """The verdict holds the first rows only; the file is asked for the rest."""
    found = verdict(findings=(outage("produce_unavailability", "writer", (0,), 10, 21),))
    run = make_run(found)
    run.evidence.mkdir()
    rows = [evidence(partition, 10, 21) for partition in range(50)]
    (run.evidence / "produce_unavailability.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert len(outages(read(run))) == 50


def test_a_huge_file_is_read_in_part(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded: the first rows, which are the earliest."""
    monkeypatch.setattr(module, "MOST_ROWS", 5)
    run = make_run(verdict(findings=(outage("produce_unavailability", "writer", (0,), 10, 21),)))
    run.evidence.mkdir()
    lines = "\n".join(json.dumps(evidence(partition, 10, 21)) for partition in range(50))
    (run.evidence / "produce_unavailability.jsonl").write_text(lines, encoding="utf-8")
    assert len(outages(read(run))) == 5


def test_a_torn_file_falls_back_to_the_verdict(make_run: MakeRun) -> None:
    """A line that is no JSON is told of, and what the verdict holds is used."""
    run = make_run(verdict(findings=(outage("produce_unavailability", "writer", (0, 3), 10, 21),)))
    run.evidence.mkdir()
    (run.evidence / "produce_unavailability.jsonl").write_text('{"producer": "wri', encoding="utf-8")
    source = read(run)
    assert len(outages(source)) == 2
    assert any("produce_unavailability.jsonl" in note for note in source.notes)


@pytest.mark.parametrize("change", [{"began": None}, {"partition": "zero"}, {"topic": None, "ended": "later"}])
def test_a_row_that_is_not_understood_is_left_out_and_told_of(make_run: MakeRun, change: dict[str, Any]) -> None:
    """One strange row does not take the others with it."""
    run = make_run(verdict(findings=(outage("produce_unavailability", "writer", (0,), 10, 21),)))
    run.evidence.mkdir()
    rows = [{**evidence(0, 10, 21), **change}, evidence(3, 10, 21)]
    (run.evidence / "produce_unavailability.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    source = read(run)
    assert [found.place for found in outages(source)] == [("orders", 3)]
    assert any("not understood" in note for note in source.notes)


def test_a_group_is_named_by_its_reader(make_run: MakeRun) -> None:
    """Outages of consumers are those of their group."""
    found = verdict(findings=(outage("consume_unavailability", "readers", (1,), 12, 15.5),))
    (only,) = outages(read(make_run(found)))
    assert only == PartitionOutage("readers", "consume", ("orders", 1), int(ns(12.001)), int(ns(15.5)))


def test_no_finding_is_no_outage(make_run: MakeRun) -> None:
    """What no check found is not explained."""
    assert outages(read(make_run(verdict(findings=())))) == ()
