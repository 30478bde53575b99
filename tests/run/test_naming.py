"""Whether a run's probes can have names of their own, asked before anything is done."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from sample_inventory import on_hosts

from chaosk import names
from chaosk.errors import PreflightError, StepError
from chaosk.run.naming import Naming
from chaosk.steps._contract import Names

pytestmark = pytest.mark.lab
NAMED = on_hosts("localhost", "a.example.test", "198.18.0.13")


def test_where_they_can_nothing_is_left_of_the_question() -> None:
    """It can be asked again, and before ``open`` no name is taken away."""
    naming = Naming(NAMED)
    naming.check()
    naming.check()
    assert naming.seen(["probe"]) == ["probe"]
    with pytest.raises(StepError, match="no names of their own"):
        naming.change(Names(action="refuse"))


def test_where_somebody_answers_in_the_silent_servers_place() -> None:
    """Its address is taken: refused, with what could not be had; nothing is held afterwards."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind((names.NOBODY, 53))
        with pytest.raises(PreflightError, match=r"127\.67\.65\.79 port 53 cannot be held"):
            Naming(NAMED).check()
    Naming(NAMED).check()


def test_of_an_inventory_the_names_are_asked_for(tmp_path: Path) -> None:
    """Neither addresses nor this machine's own name; restored they are what they were before."""
    naming = Naming(NAMED)
    naming.open(tmp_path)
    try:
        assert naming.unknown() == ("a.example.test",)
        for at in (tmp_path, tmp_path / "before"):
            with (at / "hosts").open("a") as file:
                file.write("198.18.0.99 a.example.test\n")
        assert naming.unknown() == ()
        naming.change(Names(action="silence"))
        assert naming.unknown() == ("a.example.test",)
        naming.change(Names(action="restore"))
        assert naming.unknown() == ()
    finally:
        naming.close()
