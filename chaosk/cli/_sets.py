"""The option ``--set name=value`` that several subcommands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from chaosk.core.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


def set_option(command: F) -> F:
    """Give a command the parameter ``assignments``: the texts of every ``--set``."""
    option = click.option(
        "--set",
        "assignments",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set a variable of the scenario.",
    )
    return option(command)


def sets_of(assignments: Iterable[str]) -> dict[str, str]:
    """Return the values of ``--set`` by name; raises UsageError for an invalid or repeated assignment."""
    sets: dict[str, str] = {}
    for text in assignments:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise UsageError(f"--set {text}: no assignment; write --set name=value")
        if name in sets:
            raise UsageError(f"--set {text}: {name} is set twice; keep one of them")
        sets[name] = value
    return sets
