"""How a command looks in messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.spec.command import Command, Result


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


@pytest.mark.parametrize(("out", "err", "said"), [
    ("", "no\x1b[2Jsuch\nfile\n", "no\\u001b[2Jsuch file"), ("only this\n", " \n", "only this"), ("", "", "status 7"),
])  # fmt: skip
def test_what_a_host_said_is_one_line_that_nothing_obeys(out: str, err: str, said: str) -> None:
    """Its errors, else its answer, else its status; neither an escape sequence nor a line of its own."""
    command = Command(host="node1", argv=("true",))
    result = Result(
        command=command, exit_status=7, stdout=out, stderr=err, sent=0, received=0, host_started=0, host_ended=0
    )
    assert result.said == said
