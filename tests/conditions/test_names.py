"""Whether probes can look brokers up by name."""

from __future__ import annotations

import pytest
from fake_live import FakeLive
from sample_inventory import INVENTORY, on_hosts

from chaosk.expression import parse_condition

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
