"""The option ``--variant NAME`` that several subcommands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from chaosk.document import load_scenario, load_variants
from chaosk.spec.scenario import Scenario

F = TypeVar("F", bound=Callable[..., Any])


def variant_option(command: F) -> F:
    """Give a command the parameter ``variant``, which selects one experiment of a file."""
    return click.option("--variant", metavar="NAME", help="Name of a variant of the scenario.")(command)


def chosen(path: Path, sets: Mapping[str, str], variant: str | None) -> tuple[Scenario, ...]:
    """Return the named scenario, or all scenarios of the file. Raises DocumentError."""
    if variant is None:
        return tuple(load_variants(path, sets).values())
    return (load_scenario(path, sets, variant),)
