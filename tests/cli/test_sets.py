"""`--set name=value`: what is an assignment, and what is none."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from chaosk.cli._sets import set_option, sets_of
from chaosk.core.errors import UsageError


def test_assignments() -> None:
    """Everything behind the first sign is the value, also nothing at all."""
    assert sets_of(["a=1", "b=x=y", "c=", "d= e "]) == {"a": "1", "b": "x=y", "c": "", "d": " e "}
    assert sets_of([]) == {}


@pytest.mark.parametrize("text", ["a", "", "=", "=a"])
def test_what_is_none(text: str) -> None:
    """Without a name or a sign it assigns nothing."""
    with pytest.raises(UsageError, match="write --set name=value"):
        sets_of([text])


def test_twice() -> None:
    """Which one would count? Neither is taken."""
    with pytest.raises(UsageError, match="a is set twice"):
        sets_of(["a=1", "b=2", "a=1"])


@given(st.dictionaries(st.text(min_size=1, max_size=5).filter(lambda name: "=" not in name), st.text(max_size=10)))
def test_any_name_and_value(sets: dict[str, str]) -> None:
    """What is written comes back."""
    assert sets_of([f"{name}={value}" for name, value in sets.items()]) == sets


def test_the_option_can_be_repeated() -> None:
    """A command with the option is given every one of them, in order."""

    @click.command()
    @set_option
    def command(assignments: tuple[str, ...]) -> None:
        click.echo("|".join(assignments))

    assert CliRunner().invoke(command, ["--set", "b=1", "--set", "a=2"]).output == "b=1|a=2\n"
