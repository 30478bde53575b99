"""The journal: no fault without its undo on the disk."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from chaosk.core.errors import StepError
from chaosk.run.journal import Journal
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Fact, Pause, PreparedFault, Run
from chaosk.spec.contracts.target import Node


def armed(folder: Path) -> list[PreparedFault]:
    """The faults in a run's ``undo`` folder that are not marked as undone, oldest first."""
    return [PreparedFault.model_validate_json(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]


def fault(name: str = "kill-1") -> PreparedFault:
    """A fault with one of everything."""
    command = Command(host="node1", argv=("true", "it's"), sudo=True)
    return PreparedFault(
        name=name,
        step="kill_broker",
        targets=(Node(kind="broker", id="1", host="node1"),),
        before=(Fact(says="runs", query=command),),
        inject=(Run(command=command), Pause(seconds=1.0)),
        verify=(Fact(says="gone", query=command, within=5.0),),
        undo=(Run(command=command),),
        healed=(Fact(says="up", query="broker_up(1)", within=60.0),),
    )


def test_an_armed_fault_is_read_back_whole(tmp_path: Path) -> None:
    """The undo survives the process as data: what is read back equals what was armed, in order."""
    journal = Journal(tmp_path)
    journal.arm(fault("a"))
    journal.arm(fault("b"))
    assert armed(tmp_path) == [fault("a"), fault("b")]


def test_a_disarmed_fault_is_no_longer_armed_but_still_there(tmp_path: Path) -> None:
    """What was undone stays as a record; healing twice finds nothing."""
    journal = Journal(tmp_path)
    journal.arm(fault("a"))
    journal.disarm("a")
    journal.disarm("a")
    assert armed(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["000-a.done"]


def test_disarming_what_was_never_armed_is_nothing(tmp_path: Path) -> None:
    """Closing a fault that left nothing to undo needs no special case."""
    Journal(tmp_path).disarm("wait-1")
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_cannot_be_written_refuses_the_fault(tmp_path: Path) -> None:
    """A folder that is not there: one clear error that says the fault is not injected."""
    with pytest.raises(StepError, match="so it is not injected"):
        Journal(tmp_path / "missing").arm(fault())


def test_a_full_disk_refuses_the_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fsync is what proves the journal: where it fails, nothing is injected."""

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StepError, match="No space left on device"):
        Journal(tmp_path).arm(fault())
