"""The source: only the verdict is needed; what else is missing or damaged is told, not raised."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosk.core.errors import UsageError
from chaosk.report.source import Source, read, read_verdict
from chaosk.report.tables import UnreadableTable
from chaosk.rundir.paths import RunDir

MakeRun = Callable[..., RunDir]


def test_a_run_without_verdict_is_not_judged_yet(make_run: MakeRun) -> None:
    """The message says what to do."""
    run = make_run()
    run.verdict.unlink()
    with pytest.raises(UsageError, match=r"no verdict yet; judge the run with `chaosk analyze"):
        read_verdict(run)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}', "\x00", '{"scenario": 7}'])
def test_a_damaged_verdict_is_one_clear_error(make_run: MakeRun, text: str) -> None:
    """Never a traceback, and nothing of how it is parsed."""
    run = make_run()
    run.verdict.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"cannot be read: \d+ of its fields are wrong; judge the run again"):
        read_verdict(run)


def test_a_verdict_that_is_a_folder(make_run: MakeRun) -> None:
    """The operating system's reason is given."""
    run = make_run()
    run.verdict.unlink()
    run.verdict.mkdir()
    with pytest.raises(UsageError, match="Is a directory"):
        read_verdict(run)


@pytest.mark.parametrize("name", ["plan.json", "run.json", "cluster/before.json"])
@pytest.mark.parametrize("text", ["{", "\xff", "[" * 100_000])
def test_another_damaged_document_is_noted(make_run: MakeRun, name: str, text: str) -> None:
    """The report goes on without it and says which one it was."""
    run = make_run()
    (run.root / name).write_bytes(text.encode("latin-1"))
    notes = read(run).notes
    assert len(notes) == 1
    assert notes[0].startswith(f"{Path(name).name} cannot be read")


def test_missing_documents_are_no_fault(make_run: MakeRun) -> None:
    """A run that was broken off early has no run.json and no states."""
    run = make_run()
    for path in (run.plan, run.run, *run.cluster.iterdir()):
        path.unlink()
    source = read(run)
    assert (source.plan, source.record, source.states, source.notes) == ({}, {}, {}, [])


def test_a_table_that_cannot_be_read_is_noted_once(source: Source) -> None:
    """Several readers of one torn table give one note, and each goes on without it."""

    def torn() -> int:
        raise UnreadableTable("events/sends.parquet cannot be read: torn")

    fresh = read(source.run)
    assert [fresh.tolerate(torn), fresh.tolerate(torn), fresh.tolerate(lambda: 3)] == [None, None, 3]
    assert fresh.notes == ["events/sends.parquet cannot be read: torn"]


def test_looks_of_the_timeline_stand_by_when_they_were(make_run: MakeRun) -> None:
    """Beside the states of every run, in the order of time; one that has such a name has another column."""
    run = make_run()
    during = json.loads((run.cluster / "during.json").read_text())
    (run.cluster / "during.json").write_text(json.dumps({**during, "at": 10}))
    for name, at in (("late", 15), ("early", 5), ("before", 17)):
        run.observed(name).write_text(json.dumps({**during, "at": at}))
    assert list(read(run).states) == ["before", "early", "during", "late", "before (looked at)", "after"]


def test_a_fault_is_told_as_it_was_done(make_run: MakeRun) -> None:
    """Who was on which side, as the run wrote it down; a run of before has the targets alone."""
    run = make_run()
    record = json.loads(run.run.read_text(encoding="utf-8")) if run.run.is_file() else {}
    assert read(run).verdict.faults[0].targets == "broker 1 on node1"
    run.run.write_text(json.dumps({**record, "aims": {"kill": "between a and b", "other": 7}}), encoding="utf-8")
    assert read(run).verdict.faults[0].targets == "between a and b"
    run.run.write_text(json.dumps({**record, "aims": ["kill"]}), encoding="utf-8")
    assert read(run).verdict.faults[0].targets == "broker 1 on node1"
