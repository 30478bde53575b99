"""``chaosk list``: everything that a scenario can name, with examples."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from chaosk.cli import _reference
from chaosk.cli._pages import print_page


@click.command()
@click.argument("kind", type=click.Choice(_reference.KINDS))
@click.argument("name", required=False)
@click.option("--markdown", is_flag=True, help="Print the whole reference of that kind as Markdown.")
def command(kind: str, name: str | None, *, markdown: bool) -> None:
    """List what a scenario can use, by KIND; with NAME, print its page.

    The texts are the docstrings and fields of the implementing files.
    """
    if markdown:
        click.echo(_reference.markdown(kind), nl=False)
        return
    console = Console(highlight=False)
    if name is not None:
        print_page(console, _reference.page(kind, name))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for page in _reference.pages(kind):
        table.add_row(escape(page.spelling), escape(page.summary.replace("``", "")))
    console.print(table)
    console.print(f"\n[dim]Details and an example: chaosk list {kind} NAME[/dim]")
