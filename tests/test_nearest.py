"""Suggestions: the name that was meant, or what there is to choose from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.core.suggest import instead, nearest

STEPS = ("kill_broker", "stop_broker", "kill_zookeeper", "wait")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("kil_broker", "kill_broker"),
        ("KILL_BROKER", "kill_broker"),
        ("kill_zokeeper", "kill_zookeeper"),
        ("waits", "wait"),
    ],
)
def test_slip_of_the_pen_finds_the_name(word: str, expected: str) -> None:
    """A typing mistake, or another case, leads to the name that was meant."""
    assert nearest(word, STEPS) == expected


def test_nothing_alike_finds_nothing() -> None:
    """A word that is like none is not bent into one: a wrong suggestion is worse than none."""
    assert nearest("reboot_universe", STEPS) is None


def test_instead_offers_the_nearest_or_all() -> None:
    """The half sentence behind a message: one name where one is alike, the list where none is."""
    assert instead("kil_broker", STEPS) == "did you mean 'kill_broker'?"
    assert instead("xyz", STEPS) == "write one of kill_broker, kill_zookeeper, stop_broker, wait"


def test_instead_of_nothing_and_of_much() -> None:
    """No names at all are said to be none, and a long list is cut short and counted."""
    assert instead("x", ()) == "there is none to choose from"
    assert instead("x", [f"name{number:02}" for number in range(30)]).endswith("name11, … (30 in all)")


@given(word=st.text(max_size=20), known=st.lists(st.text(max_size=10), max_size=20))
def test_suggestion_is_always_a_known_name(word: str, known: list[str]) -> None:
    """Whatever was written, what is suggested exists."""
    found = nearest(word, known)
    assert found is None or found in known


@given(known=st.lists(st.sampled_from(STEPS), min_size=1))
def test_order_of_the_names_does_not_matter(known: list[str]) -> None:
    """The same names in another order give the same advice: messages are stable."""
    assert instead("kill", known) == instead("kill", sorted(known, reverse=True))


def test_a_name_with_all_its_words_goes_before_one_of_like_letters() -> None:
    """``latency_max`` has more letters of ``lag_max``, and is another thing."""
    known = ["latency_max", "realtime_lag_max", "realtime_lag_p99"]
    assert nearest("lag_max", known) == "realtime_lag_max"
    assert nearest("latensy_max", known) == "latency_max"
