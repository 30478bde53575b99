"""Leases and locks that are found before a run: whose they are, and what to do."""

from __future__ import annotations

import pytest

from chaosk.hosts.lease import ReportedLease, State
from chaosk.run.preflight.leftovers import held, leftovers

ABOUT = {"run": "r1", "entry": "cut", "step": "cut_network", "targets": "x", "by": "me@here"}


def lease(state: State = "armed", about: dict[str, str] | None = None) -> ReportedLease:
    """A lease as a host tells of it."""
    return ReportedLease(host="a", id="r1.cut", state=state, left=12.3, about=ABOUT if about is None else about)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("armed", "heals itself in 12 s"),
        ("dead", "its timer is gone"),
        ("booted", "the host was booted since"),
        ("healed", "already undone by the host"),
    ],
)
def test_a_lease_of_a_former_run_is_bad_in_every_state(state: State, told: str) -> None:
    """Also one that the host has healed: somebody should know that the run was cut short."""
    (found,) = leftovers({"a": (lease(state),)})
    assert (found.where, found.state) == ("a", "bad")
    assert found.seen == f"a former run left faults on the hosts: cut of r1 ({told})"
    assert found.todo == "do: chaosk heal --inventory FILE"


def test_leases_of_a_run_under_way_are_no_leftovers() -> None:
    """Those of any other run are."""
    other = lease(about={**ABOUT, "run": "r2", "entry": "kill"})
    (found,) = leftovers({"a": (lease(), other)}, frozenset({"r1"}))
    assert "kill of r2" in found.seen
    assert "r1" not in found.seen
    assert [one.state for one in leftovers({"a": (lease(),)}, frozenset({"r1"}))] == ["ok"]


def test_a_lease_that_says_nothing_of_itself_is_named_by_its_id() -> None:
    """Its file may be damaged; it is armed all the same."""
    (found,) = leftovers({"a": (lease(about={}),)}, frozenset({"r1"}))
    assert "r1.cut of an unknown run" in found.seen


def test_a_host_that_does_not_answer_is_no_clean_host() -> None:
    """What nobody can look at may hold anything."""
    (found,) = leftovers({"a": "no answer"})
    assert (found.state, found.seen) == ("bad", "cannot be asked: no answer")


def test_who_has_the_lock_is_told_once_with_its_hosts() -> None:
    """One run on three hosts is one thing to do."""
    said = "r1 25 the run r1 of me@here"
    (found,) = held({"a": said, "b": said, "c": ""})
    assert (found.state, found.seen) == ("bad", "held by the run r1 of me@here (on a, b)")
    assert "chaosk halt" in found.todo
    assert [one.state for one in held({"a": "", "b": ""})] == ["ok"]
    assert len(list(held({"a": said, "b": "r2 9 the run r2 of you@there"}))) == 2
