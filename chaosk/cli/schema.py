"""``chaosk schema``: JSON Schemas for editors and for programs that read verdicts."""

from __future__ import annotations

import click

from chaosk.cli import _json_schemas


@click.command()
@click.argument("name", type=click.Choice(sorted(_json_schemas.SCHEMAS)))
def command(name: str) -> None:
    """Print the JSON Schema of scenarios, spaces of sequences, inventories or verdicts, plugins included.

    For an editor, write it to a file and start a scenario with `# yaml-language-server: $schema=FILE`.
    """
    click.echo(_json_schemas.text(name), nl=False)
