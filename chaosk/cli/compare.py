"""``chaosk compare``: runs side by side."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chaosk.core.errors import UsageError
from chaosk.core.files import replace

if TYPE_CHECKING:
    from chaosk.campaign.history.comparison import RunComparison
    from chaosk.campaign.history.stored_run import StoredRun

_FORMS = (".html", ".md", ".json")
_WIDE = 200
"""Columns of a table in a file or a pipe."""


@click.command("compare")
@click.argument("folders", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write a page as well: FILE.html, FILE.md or FILE.json."
)
def command(folders: tuple[Path, ...], output: Path | None) -> None:
    """Compare RUNs: run directories, or folders of them, like a gate's.

    Verdicts, what differs between the plans, and every figure; the HTML page and the JSON have throughput and latency
    over time as well.
    """
    if output is not None and output.suffix not in _FORMS:
        raise UsageError(f"--output {output}: the suffix determines the format; use one of {', '.join(_FORMS)}")
    from chaosk.campaign.history.comparison import compare  # noqa: PLC0415 - pyarrow takes a second to load

    runs = _runs(folders)
    told = compare(runs)
    if output is not None:
        told = _write(told, runs, output)
    _print(told)
    if output is not None:
        click.echo(f"page: {output}")


def _runs(folders: Sequence[Path]) -> list[StoredRun]:
    """Return the judged runs in folders, in the order of the arguments; skipped ones are reported on stderr.

    Raises UsageError if a folder that was named directly is not a comparable run.
    """
    from chaosk.campaign.history.folders import find  # noqa: PLC0415 - as above
    from chaosk.campaign.history.stored_run import judged  # noqa: PLC0415
    from chaosk.core.printable import printable  # noqa: PLC0415

    found = find(folders)
    runs = list(judged(found))
    named = {folder.resolve() for folder in folders}
    for each in found.passed:
        if each.folder in named:
            raise UsageError(f"{each.folder}: {each.why}")
        click.echo(printable(f"passed over {each.folder}: {each.why}"), err=True)
    return runs


def _write(told: RunComparison, runs: Sequence[StoredRun], output: Path) -> RunComparison:
    """Write the page, and return the comparison with the data that were read for it."""
    from chaosk.campaign.history import comparison_view  # noqa: PLC0415 - matplotlib takes a second to load
    from chaosk.campaign.history.comparison import with_lines  # noqa: PLC0415
    from chaosk.campaign.history.overlay import overlay  # noqa: PLC0415
    from chaosk.campaign.history.series import series  # noqa: PLC0415

    if output.suffix == ".md":
        replace(output, comparison_view.markdown(told))
        return told
    notes: list[str] = []
    lines = series(runs, notes)
    told = with_lines(told, lines, notes)
    if output.suffix == ".json":
        replace(output, comparison_view.as_json(told))
        return told
    places = zip(range(len(runs)), told.runs, lines, runs, strict=True)
    drawn = [(place, column.letter, one, run.verdict.faults) for place, column, one, run in places if one is not None]
    replace(output, comparison_view.html(told, overlay(drawn)))
    return told


def _print(told: RunComparison) -> None:
    from rich.console import Console  # noqa: PLC0415 - as above

    from chaosk.campaign.history.comparison_view import on_terminal  # noqa: PLC0415

    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE)
    for part in on_terminal(told):
        console.print(part)
