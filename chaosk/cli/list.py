"""``chaosk list``: what a scenario can name, with an example each."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from chaosk import reference


@click.command()
@click.argument("kind", type=click.Choice(reference.KINDS))
@click.argument("name", required=False)
@click.option("--markdown", is_flag=True, help="Print the whole reference of that kind as Markdown.")
def command(kind: str, name: str | None, *, markdown: bool) -> None:
    """List what scenarios can name; with a NAME, all about it.

    The texts are the docstrings and fields of the files that do the work.
    """
    if markdown:
        click.echo(reference.markdown(kind), nl=False)
        return
    console = Console(highlight=False)
    if name is not None:
        _print_page(console, reference.page(kind, name))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for page in reference.pages(kind):
        table.add_row(escape(page.spelling), escape(page.summary.replace("``", "")))
    console.print(table)
    console.print(f"\n[dim]chaosk list {kind} NAME tells more, with an example.[/dim]")


def _print_page(console: Console, page: reference.Page) -> None:
    console.print(f"[bold]{escape(page.spelling)}[/bold]\n")
    console.print(escape(reference.flowing(page.says).replace("``", "")))
    if page.fields:
        table = Table(box=None, pad_edge=False, title_justify="left", title="", header_style="dim")
        for heading in ("field", "value", "default", ""):
            table.add_column(heading)
        for field in page.fields:
            cells = (field.name, field.kind.replace("`", ""), field.default, field.says.replace("``", ""))
            table.add_row(*(escape(cell) for cell in cells))
        console.print(table)
    if page.example:
        console.print("\n[dim]Example[/dim]")
        console.print(escape(page.example.rstrip()))
