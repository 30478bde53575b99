"""The lock of a run, over a transport that answers as hosts would."""

from __future__ import annotations

import threading

import pytest

from chaosk.hosts import lock
from chaosk.run.lock_keeper import LockKeeper
from chaosk.spec.command import Command, Result


class Hosts:
    """Every host gives the lock, and one of them says later on that it is gone."""

    def run(self, command: Command) -> Result:
        """Answer."""
        gone = command.host == "node2" and "keep" in command.argv
        return Result(
            command=command, exit_status=3 if gone else 0, stdout="", stderr="the hold ran out\n" if gone else "",
            sent=0, received=0, host_started=0, host_ended=0,
        )  # fmt: skip

    def close(self) -> None:
        """Nothing to close."""


def test_who_loses_it_is_told_where_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words name the host: they become what the run says of its end, and what its record keeps."""
    monkeypatch.setattr(lock, "SECONDS", 0.1)
    told, heard = list[str](), threading.Event()

    def hear(why: str) -> None:
        told.append(why)
        heard.set()

    holding = LockKeeper(Hosts(), ("node1", "node2", "node3"), "run-1", "tests", hear)
    holding.take()
    assert heard.wait(10)
    holding.leave()
    assert told == ["node2: the hold ran out"]
