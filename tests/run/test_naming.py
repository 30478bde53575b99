"""Whether a run's probes can have names of their own, asked before anything is done."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest
from sample_inventory import on_hosts

from chaosk.core.errors import PreflightError, StepError
from chaosk.hosts import resolver
from chaosk.run.naming import Naming
from chaosk.spec.contracts.step import Names

pytestmark = pytest.mark.lab
NAMED = on_hosts("localhost", "a.example.test", "198.18.0.13")


def test_where_they_can_nothing_is_left_of_the_question() -> None:
    """It can be asked again, and before ``open`` no name is taken away."""
    naming = Naming(NAMED)
    naming.check()
    naming.check()
    assert naming.seen(["probe"]) == naming.followed(["probe"]) == ["probe"]
    assert naming.addresses("localhost") == resolver.addresses(None, ["localhost"])["localhost"]
    with pytest.raises(StepError, match="no names of their own"):
        naming.change(Names(action="refuse"))


def test_where_somebody_answers_in_the_silent_servers_place() -> None:
    """Its address is taken: refused, with what could not be had; nothing is held afterwards."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind((resolver.NOBODY, 53))
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


def test_chaosk_itself_follows_a_name_that_leads_elsewhere_and_none_that_is_gone(tmp_path: Path) -> None:
    """Probes and watcher look it up in files of their own; this process is told what to connect to."""
    naming = Naming(NAMED)
    naming.open(tmp_path)

    def found() -> list[str]:
        ask = ["getent", "ahosts", "a.example.test"]
        every = [naming.seen(ask), naming.followed(ask)]
        return [*(_first(words) for words in every), naming.find("a.example.test")]

    try:
        naming.change(Names(action="move", names=("a.example.test",), to="198.18.0.55"))
        assert found() == ["198.18.0.55"] * 3
        assert naming.addresses("a.example.test") == ("198.18.0.55",)
        assert naming.find("198.18.0.13") == "198.18.0.13"
        naming.change(Names(action="restore"))
        assert naming.find("a.example.test") == "a.example.test"
        for at in (tmp_path / "followed", tmp_path / "followed" / "before"):
            with (at / "hosts").open("a") as file:
                file.write("198.18.0.98 a.example.test\n")
        naming.change(Names(action="refuse"))
        assert found() == ["", "198.18.0.98", "a.example.test"]
    finally:
        naming.close()


def _first(words: list[str]) -> str:
    """The first word that a command says; nothing if it says none."""
    said = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    return said.split()[0] if said else ""
