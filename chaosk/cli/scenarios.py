"""``chaosk scenarios``: the scenarios that come with chaosk, and copies of them."""

from __future__ import annotations

from pathlib import Path

import click

from chaosk.core.errors import UsageError
from chaosk.document import shipped

_FILE = click.Path(path_type=Path)


@click.group()
def command() -> None:
    """List or copy the scenarios that come with chaosk."""


@command.command("list")
@click.argument("names", nargs=-1)
@click.option("--inventory", type=_FILE, help="Only those that fit this cluster.")
def list_command(names: tuple[str, ...], inventory: Path | None) -> None:
    """List all scenarios, or those with NAMES: files or folders, like `brokers` or `brokers/kill-the-leader`."""
    found = shipped.chosen(names)
    if inventory is not None:
        from chaosk.cli._starting_set import fitting  # noqa: PLC0415 - loads every step

        found = fitting(found, inventory)
    width = max(map(len, found), default=0)
    for name, path in found.items():
        click.echo(f"{name:<{width}}  {shipped.title(path)}")


@command.command("copy")
@click.argument("names", nargs=-1)
@click.option("--to", "target", type=_FILE, default=Path("scenarios"), help="The folder (scenarios).")
@click.option("--inventory", type=_FILE, help="Only those that fit this cluster.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
def copy_command(names: tuple[str, ...], target: Path, inventory: Path | None, *, force: bool) -> None:
    """Copy all scenarios, or those with NAMES, into a folder; print the new files."""
    found = shipped.chosen(names)
    if inventory is not None:
        from chaosk.cli._starting_set import fitting  # noqa: PLC0415 - as above

        found = fitting(found, inventory)
    files = {target / f"{name}.yaml": shipped.text_of(path) for name, path in found.items()}
    write_all(files, force=force)
    for path in files:
        click.echo(path)


def write_all(files: dict[Path, str], *, force: bool) -> None:
    """Write files, or none of them; raises UsageError if one is there already, or cannot be written."""
    if not force and (there := next((path for path in files if path.exists()), None)):
        raise UsageError(f"{there}: is there already; name another folder, or replace it with --force")
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror}; name another folder") from error
