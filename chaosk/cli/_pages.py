"""A page of the reference on a terminal or in a pipe."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from chaosk.cli import _reference


def print_page(console: Console, page: _reference.Page) -> None:
    """Print spelling, text, fields (as a table) and example."""
    console.print(f"[bold]{escape(page.spelling)}[/bold]\n")
    console.print(escape(_reference.flowing(page.says).replace("``", "")))
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
