"""The options of ``chaosk run`` that make it a game day."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from chaosk.core.errors import UsageError
from chaosk.core.units import parse_duration, spell_duration

if TYPE_CHECKING:
    from chaosk.run.gameday.session import Options

F = TypeVar("F", bound=Callable[..., Any])

_LONGEST_NAME = 80


def game_day_options(command: F) -> F:
    """Give a command the parameters that :func:`options_of` reads."""
    for option in (
        click.option(
            "--watch-group",
            "watch_groups",
            multiple=True,
            metavar="GROUP",
            help="Consumer group to show on the console.",
        ),
        click.option(
            "--answer-within", metavar="TIME", help="Heal and stop if a question is not answered in time. Default: 5m."
        ),
        click.option(
            "--operator", metavar="NAME", help="Name of the operator, for the report. Default: the login name."
        ),
        click.option("--game-day", is_flag=True, help="Show a console and ask before each step."),
    ):
        command = option(command)
    return command


def options_of(given: dict[str, Any]) -> Options | None:
    """Return the settings of the game day; None without one. Raises UsageError, also for an unsuitable terminal."""
    if not given["game_day"]:
        names = {"operator": "--operator", "answer_within": "--answer-within", "watch_groups": "--watch-group"}
        if extra := [option for name, option in names.items() if given[name]]:
            raise UsageError(f"{extra[0]} is for a game day; add --game-day, or leave it out")
        return None
    from chaosk.run.environment import login_name  # noqa: PLC0415 - only for a game day
    from chaosk.run.gameday.session import ANSWER_WITHIN, Options  # noqa: PLC0415 - as above
    from chaosk.run.gameday.terminal import refuse_unfit  # noqa: PLC0415 - as above

    operator = (given["operator"] or login_name()).strip()
    if not operator or len(operator) > _LONGEST_NAME or not operator.isprintable():
        raise UsageError(f"--operator: write a name of 1 to {_LONGEST_NAME} printable characters")
    within = ANSWER_WITHIN if given["answer_within"] is None else _duration(given["answer_within"])
    refuse_unfit()
    return Options(operator, within, tuple(given["watch_groups"]))


def _duration(text: str) -> float:
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--answer-within: {error}") from error
    if seconds < 1:
        raise UsageError(
            f"--answer-within: {spell_duration(seconds)} is too short to read a question; write 1s or more"
        )
    return seconds
