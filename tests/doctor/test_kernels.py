"""Whose clock is whose: by the ids of kernels."""

from __future__ import annotations

from chaosk.run.preflight.kernels import apart


def seen(ids: dict[str, str], here: str = "me") -> dict[str, str]:
    """By host its state, and of a bad one why."""
    return {one.where: one.state if one.state == "ok" else one.seen for one in apart(ids, here)}


def test_hosts_with_kernels_of_their_own() -> None:
    """No two the same, and none is chaosk's."""
    assert seen({"a": "1", "b": "2"}) == {"a": "ok", "b": "ok"}


def test_a_host_on_the_machine_of_chaosk() -> None:
    """Its clock is that of chaosk itself, and of all that runs beside it."""
    assert seen({"a": "1", "b": "me"}) == {
        "a": "ok", "b": "it shares kernel and clock with the machine that chaosk runs on",
    }  # fmt: skip


def test_two_hosts_with_one_kernel() -> None:
    """Containers of one machine: who moves one clock moves both."""
    found = seen({"a": "1", "b": "1", "c": "2"})
    assert found == {
        "a": "it shares kernel and clock with b", "b": "it shares kernel and clock with a", "c": "ok",
    }  # fmt: skip


def test_what_cannot_be_told_is_bad() -> None:
    """Silence is no yes, from a host or from this machine."""
    assert set(seen({"a": "", "b": "1"}).values()) == {"its kernel cannot be identified", "ok"}
    assert set(seen({"a": "1"}, "").values()) == {"its kernel cannot be identified"}
