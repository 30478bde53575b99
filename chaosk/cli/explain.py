"""``chaosk explain``: what a rule of a verdict means."""

from __future__ import annotations

import click
from rich.console import Console

from chaosk.cli import _reference
from chaosk.cli._pages import print_page


@click.command()
@click.argument("rule")
def command(rule: str) -> None:
    """Print the page of a RULE that a verdict names, by its id, like A4, or by its check, like lost.

    It says what breaks the rule, what excuses it, what leaves it open, and what the columns of its evidence are.
    """
    console = Console(highlight=False)
    for number, page in enumerate(_reference.of_rule(rule)):
        if number:
            console.print()
        print_page(console, page)
