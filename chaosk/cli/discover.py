"""``chaosk discover``: the inventory of a cluster, from a bootstrap address, its hosts, or files of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chaosk.cli._discovery import discovery_options
from chaosk.core.errors import ExitCode, UsageError


@click.command("discover")
@discovery_options
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@click.option(
    "--inventory",
    type=click.Path(path_type=Path),
    help="Print the differences to this inventory instead.",
)
def command(*, inventory: Path | None, files: tuple[Path, ...], **options: Any) -> int:  # noqa: ANN401 - an option of each kind
    """Print the inventory of a cluster, each value with where it was learned; what is not known is a question in it.

    Asks the cluster at --bootstrap and, with --ssh or --ssh-config, its hosts; or reads files alone: --properties,
    which more FILEs may follow, and --ansible. Changes nothing. The findings of `chaosk doctor` go to standard error.

    Exit code: 0 if the inventory is complete and a run may start, else 69. With --inventory: 0 if there is no
    difference, 1 if there is one, 69 if not all could be compared.
    """
    from chaosk.cli._discovery import Discovery, examined, searched  # noqa: PLC0415 - paramiko takes a moment to load

    if files and not options["properties"]:
        raise UsageError(f"{files[0]}: name files of servers after --properties, other files by their options")
    options["properties"] = (*options["properties"], *files)
    if inventory is not None:
        from chaosk.cli._drift import drift  # noqa: PLC0415 - as above

        return drift(inventory, options)
    found = searched(Discovery.of(options))
    click.echo(found.text, nl=False)
    return ExitCode.PASS if examined(found) else ExitCode.PREFLIGHT
