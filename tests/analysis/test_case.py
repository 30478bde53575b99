"""Windows of timeline entries, and which entries can be blamed. No Spark: a case is plain values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.history import History, ns

from chaosk.analysis.case import Case, Span
from chaosk.analysis.reading import read_case


def with_entry(folder: Path, step: str, **changed: Any) -> Case:
    """A run whose kill is over at 6 s, and in which an entry ``back`` that leaves nothing to undo took 8 to 12 s."""
    history = History(records=5)
    row = {"invoked": 8, "applied": 12, "heal_invoked": None, "healed": None, "took": True, "undone": True}
    history.add("faults", **({"fault": "back", "step": step, "targets": ""} | row | changed))
    history.record["entries"].append({"entry": "back", "status": "done"})
    return read_case(history.write(folder / "run"))


def window(case: Case, name: str) -> Span:
    """The one window of that name."""
    (found,) = [span for span in case.windows if span.name == name]
    return found


@pytest.mark.parametrize("step", ["wait", "restart_broker"])
def test_what_leaves_nothing_to_undo_has_the_window_of_all_that_it_took(tmp_path: Path, step: str) -> None:
    """From when it began until it was done; a fault that is undone from when it was verified until that was."""
    case = with_entry(tmp_path, step)
    assert window(case, "back") == Span("back", ns(8), ns(12))
    assert window(case, "kill") == Span("kill", ns(1.1), ns(6))


def test_a_wait_is_no_fault(tmp_path: Path) -> None:
    """Nothing that happens meanwhile is put down to it, and what follows the last heal begins where it did before."""
    case = with_entry(tmp_path, "wait")
    assert [fault.name for fault in case.faults] == ["kill"]
    assert case.overlapped(ns(9), ns(10)) == ()
    assert window(case, "after_heal") == Span("after_heal", ns(6), ns(20))


def test_a_restart_is_one(tmp_path: Path) -> None:
    """Near miss: it leaves nothing to undo either, and is to blame."""
    case = with_entry(tmp_path, "restart_broker")
    assert case.overlapped(ns(9), ns(10)) == ("back",)
    assert window(case, "after_heal") == Span("after_heal", ns(12), ns(20))


def test_a_fault_that_was_never_undone_lasts_until_the_end(tmp_path: Path) -> None:
    """Its window is open, whatever its kind."""
    case = with_entry(tmp_path, "pause_broker", undone=False)
    assert window(case, "back") == Span("back", ns(12), ns(20))
