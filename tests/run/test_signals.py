"""Signals during a run: heard once, answered always, and handed back afterwards."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from chaosk.run import signals as module
from chaosk.run.signals import heard


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_stops_the_second_is_answered(number: signal.Signals) -> None:
    """The first asks the run to end and heal; one more, at once, is told why chaosk does not leave yet."""
    stop = threading.Event()
    said: list[str] = []
    with heard(stop, said.append, lambda: said.append("left")):
        os.kill(os.getpid(), number)
        assert stop.is_set()
        os.kill(os.getpid(), number)
    assert [line.split(":")[0] for line in said] == [number.name, number.name]
    assert "still healing" in said[1]


@pytest.mark.parametrize(("number", "leaves"), [(signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGHUP, False)])
def test_only_ctrl_c_once_more_leaves(number: signal.Signals, *, leaves: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person who presses it again, a moment later, means it; a supervisor that repeats TERM does not."""
    monkeypatch.setattr(module, "AGAIN_AFTER", 0.0)
    said: list[str] = []
    with heard(threading.Event(), said.append, lambda: said.append("left")):
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), number)
    assert (said[-1] == "left") is leaves


def test_ctrl_c_leaves_also_where_something_else_ended_the_run() -> None:
    """A halt from elsewhere set `stop`: the first Ctrl-C is one more already."""
    stop = threading.Event()
    stop.set()
    said: list[str] = []
    with heard(stop, said.append, lambda: said.append("left")):
        os.kill(os.getpid(), signal.SIGINT)
    assert said == ["left"]


def test_handlers_are_as_before_afterwards() -> None:
    """Also when the run ends with an error."""
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="x"), heard(threading.Event(), print, print):
        raise ValueError("x")
    assert signal.getsignal(signal.SIGINT) is before
