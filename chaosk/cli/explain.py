"""``chaosk explain``: the meaning of a rule in a verdict."""

from __future__ import annotations

import click
from rich.console import Console

from chaosk.cli import _reference
from chaosk.cli._pages import print_page


@click.command()
@click.argument("rule")
def command(rule: str) -> None:
    """Print the page of a RULE that a verdict names, by its id, like A4, or by its check, like lost.

    It explains what breaks the rule, what excuses a violation, what leaves it open, and the columns of its evidence.
    """
    console = Console(highlight=False)
    for number, page in enumerate(_reference.of_rule(rule)):
        if number:
            console.print()
        print_page(console, page)
