"""Whether probes can look brokers up by name."""

from __future__ import annotations

import pytest
from fake_live import FakeLive
from sample_inventory import INVENTORY, on_hosts

from chaosk.core.errors import UsageError
from chaosk.spec.expression import parse_condition

NAMED = on_hosts("a.example.com", "b.example.com", "198.18.0.13")


@pytest.mark.parametrize(
    ("unknown", "known", "gone", "seen"),
    [
        ((), True, False, "2 of 2 names known"),
        (("b.example.com",), False, False, "1 of 2 names known, not b.example.com"),
        (("b.example.com", "a.example.com"), False, True, "0 of 2 names known, not b.example.com, a.example.com"),
    ],
)
def test_all_some_or_none(unknown: tuple[str, ...], known: bool, gone: bool, seen: str) -> None:  # noqa: FBT001
    """Between all and none neither holds; an address is no name."""
    live = FakeLive(nameless=unknown)
    answers = [parse_condition(f"names_{word}").ask(live, NAMED) for word in ("known", "unknown")]
    assert [answer.holds for answer in answers] == [known, gone]
    assert {answer.seen for answer in answers} == {seen}


def test_where_clients_go_by_address() -> None:
    """All there are is known, and nothing is gone: a fault that takes no name away has not taken."""
    assert parse_condition("names_known").ask(FakeLive(), INVENTORY).holds
    assert not parse_condition("names_unknown").ask(FakeLive(), INVENTORY).holds


@pytest.mark.parametrize(
    ("found", "holds", "seen"),
    [
        (("198.18.0.99",), True, "b.example.com leads to 198.18.0.99"),
        (("198.18.0.12",), False, "b.example.com leads to 198.18.0.12"),
        (("198.18.0.12", "198.18.0.99"), False, "b.example.com leads to 198.18.0.12, 198.18.0.99"),
        ((), False, "b.example.com leads to nothing"),
    ],
)
def test_where_a_broker_is(found: tuple[str, ...], seen: str, *, holds: bool) -> None:
    """There and nowhere else; its listener for brokers, which is the same name here, is not asked about."""
    live = FakeLive(leads={"b.example.com": found})
    answer = parse_condition("broker_at(1, 198.18.0.99)").ask(live, NAMED)
    assert (answer.holds, answer.seen) == (holds, seen)


@pytest.mark.parametrize(
    ("text", "why"), [("broker_at(7, ::1)", "no such broker"), ("broker_at(1, b)", "no IP address")]
)
def test_what_is_no_place(text: str, why: str) -> None:
    """A broker that is not there, and what is no address."""
    with pytest.raises(UsageError, match=why):
        parse_condition(text).ask(FakeLive(), NAMED)
