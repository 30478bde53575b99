"""``chaosk validate``: every mistake of every file."""

from __future__ import annotations

from pathlib import Path

import click

from chaosk.campaign.explore.space_file import load_space
from chaosk.cli._sets import set_option, sets_of
from chaosk.core.errors import UsageError
from chaosk.document import DocumentError, load_inventory, load_variants
from chaosk.document.kinds import is_inventory, is_space
from chaosk.spec.transaction_timeout import short


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@set_option
def command(files: tuple[Path, ...], assignments: tuple[str, ...]) -> None:
    """Check scenario and inventory FILES, in all variants, and report every mistake. Contacts nothing.

    A file with `hosts:` or `lab:` is an inventory, one with `explore:` a space of sequences, any other a scenario.
    """
    sets = sets_of(assignments)
    problems = [found for path in files if (found := _problems(path, sets))]
    if problems:
        raise UsageError("\n".join(problems))


def _problems(path: Path, sets: dict[str, str]) -> str:
    try:
        several = 1
        notes: set[str | None] = set()
        if is_inventory(path):
            load_inventory(path)
        elif is_space(path):
            load_space(path, sets)
        else:
            every = load_variants(path, sets)
            several = len(every)
            notes = {short(each.settle, each.probes_as_written) for each in every.values()} - {None}
    except DocumentError as error:
        return str(error)
    click.echo(f"{path}: ok{f', {several} variants' if several > 1 else ''}")
    for note in sorted(filter(None, notes)):
        click.echo(f"{path}: note: {note}", err=True)
    return ""
