"""Signals during a run: heard once, answered always, and handed back afterwards."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from chaosk.run.signals import heard


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_stops_the_second_is_answered(number: signal.Signals) -> None:
    """The first asks the run to end and heal; the next one is told why chaosk does not leave."""
    stop = threading.Event()
    said: list[str] = []
    with heard(stop, said.append):
        os.kill(os.getpid(), number)
        assert stop.is_set()
        os.kill(os.getpid(), number)
    assert [line.split(":")[0] for line in said] == [number.name, number.name]
    assert "still healing" in said[1]


def test_handlers_are_as_before_afterwards() -> None:
    """Also when the run ends with an error."""
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="x"), heard(threading.Event(), lambda line: None):
        raise ValueError("x")
    assert signal.getsignal(signal.SIGINT) is before
