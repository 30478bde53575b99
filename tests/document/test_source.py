"""Bytes into text: what is refused before YAML is even looked at, and that what people write is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.document.nodes import SourcePosition
from chaosk.document.source import LARGEST, Unreadable, decode, hidden, name

INVISIBLE = {
    "escape": "\x1b", "null": "\x00", "bell": "\x07", "backspace": "\x08", "delete": "\x7f", "C1 control": "\x85",
    "form feed": "\x0c", "vertical tab": "\x0b", "line separator": "\u2028", "paragraph separator": "\u2029",
    "left-to-right mark": "\u200e", "right-to-left mark": "\u200f", "arabic letter mark": "\u061c",
    "left-to-right override": "\u202d", "right-to-left override": "\u202e", "pop": "\u202c",
    "isolate": "\u2067", "pop isolate": "\u2069", "zero width space": "\u200b", "word joiner": "\u2060",
    "byte order mark inside": "\ufeff", "noncharacter": "\uffff", "noncharacter of a plane": "\U0001fffe",
}  # fmt: skip

VISIBLE = {
    "umlauts": "Größe", "greek": "λ", "chinese": "卡夫卡", "hebrew": "שלום", "arabic": "\u0633\u0644\u0627\u0645",
    "persian with a joiner": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "emoji": "🔥", "emoji joined": "👩\u200d💻", "combining": "e\u0301", "arrows": "→", "soft hyphen": "co\u00adop",
    "no-break space": "10\u00a0s", "tab": "a\tb", "replacement": "\ufffd",
}  # fmt: skip


@pytest.mark.parametrize("sign", INVISIBLE.values(), ids=INVISIBLE)
def test_what_nobody_can_see_is_refused(sign: str) -> None:
    """With its code point, at its line and column."""
    assert hidden(sign)
    with pytest.raises(Unreadable) as caught:
        decode(f"first: line\nab{sign}cd\n".encode())
    assert caught.value.place == SourcePosition(2, 3)
    assert f"U+{ord(sign):04X}" in caught.value.what


@pytest.mark.parametrize("text", VISIBLE.values(), ids=VISIBLE)
def test_what_people_write_is_not(text: str) -> None:
    """Every script, emoji and combining signs pass unchanged."""
    assert decode(text.encode()) == text


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_all_line_endings_count(ending: str) -> None:
    """A place is what an editor shows, whatever the file's line endings."""
    with pytest.raises(Unreadable) as caught:
        decode(f"a{ending}b{ending}c\x00".encode())
    assert caught.value.place == SourcePosition(3, 2)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"\xff", SourcePosition(1, 1)),
        (b"ab\xe9", SourcePosition(1, 3)),
        ("ü\n€".encode() + b"\x80", SourcePosition(2, 2)),
        (b"a\xc3", SourcePosition(1, 2)),
    ],
)
def test_what_is_not_utf_8(data: bytes, place: SourcePosition) -> None:
    """The place counts the characters before, not their bytes."""
    with pytest.raises(Unreadable, match="not UTF-8") as caught:
        decode(data)
    assert caught.value.place == place


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_of_unicode(encoding: str) -> None:
    """Each is refused: by its mark, or by the zeros that are no text."""
    with pytest.raises(Unreadable, match=r"byte order mark|U\+0000|not UTF-8"):
        decode("name: a\n".encode(encoding))


def test_the_limit_is_exact() -> None:
    """A mebibyte is read, one byte more is not, and the message says how large the file is."""
    assert len(decode(b"x" * LARGEST)) == LARGEST
    with pytest.raises(Unreadable, match=str(LARGEST + 1)):
        decode(b"x" * (LARGEST + 1))


def test_names_of_characters() -> None:
    """The code point always, the name where Unicode has one."""
    assert name("\u202e") == "U+202E RIGHT-TO-LEFT OVERRIDE"
    assert name("\x00") == "U+0000"


@given(st.binary(max_size=100))
def test_any_bytes_are_text_or_refused_with_a_place(data: bytes) -> None:
    """Nothing else is raised, and what passes holds nothing hidden but tabs and line ends."""
    try:
        text = decode(data)
    except Unreadable as error:
        place = error.place
    else:
        assert not any(hidden(sign) for sign in text if sign not in "\t\n\r")
        return
    assert place.line >= 1
    assert place.column >= 1
