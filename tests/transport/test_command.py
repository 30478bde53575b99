"""How a command looks in messages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chaosk.transport.command import Command


def test_a_script_stays_out_of_messages() -> None:
    """What it is called with says what it does; its text would fill the screen."""
    command = Command(host="node1", argv=("sh", "-c", "line one\nline two", "chaosk", "start", "script"))
    assert command.brief == "sh -c … chaosk start script"


def test_what_comes_by_standard_input_stays_out() -> None:
    """It may be a secret."""
    assert "secret" not in Command(host="node1", argv=("cat",), stdin="secret").brief


@given(argv=st.lists(st.text(max_size=300), min_size=1, max_size=6))
def test_a_brief_command_is_one_short_line(argv: list[str]) -> None:
    """Whatever the words are."""
    brief = Command(host="node1", argv=tuple(argv)).brief
    assert len(brief) <= 160
    assert len(brief.splitlines()) <= 1
