"""Keys from the bytes of a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.run.gameday.keys import Keys


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"gs", ["g", "s"]), (b"\r", ["enter"]), (b"\x7f", ["backspace"]), (b"\x1b[A\x1b[B", ["up", "down"]),
        ("é".encode(), ["é"]), (b"\x1b[1;5C", []), (b"\x1b[200~h\ng\x1b[201~", ["paste h g"]), (b"\x00\x04", []),
    ],
)  # fmt: skip
def test_what_keys_send(data: bytes, keys: list[str]) -> None:
    """Characters are themselves, some keys have names, and what has no meaning here is nothing: not its letters."""
    assert Keys().feed(data) == keys


def test_a_sequence_that_comes_in_two_parts_is_one_key() -> None:
    """As over a slow connection."""
    keys = Keys()
    assert keys.feed(b"\x1b") == []
    assert keys.half
    assert keys.feed(b"[A") == ["up"]
    assert Keys().feed("é".encode()[:1]) == []


def test_an_escape_that_nothing_follows_is_a_key() -> None:
    """Told by who waited for more in vain."""
    keys = Keys()
    keys.feed(b"\x1b")
    assert keys.feed(b"") == ["escape"]
    assert not keys.half


def test_pasted_text_is_no_command_in_two_parts_either() -> None:
    """A paste that is cut is waited for."""
    keys = Keys()
    assert keys.feed(b"\x1b[200~hh") == []
    assert keys.feed(b"gg\x1b[201~s") == ["paste hhgg", "s"]


@given(st.lists(st.binary(max_size=20), max_size=10))
def test_no_bytes_raise(parts: list[bytes]) -> None:
    """Noise on the line ends nothing."""
    keys = Keys()
    for part in parts:
        assert all(key for key in keys.feed(part))
