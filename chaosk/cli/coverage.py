"""``chaosk coverage``: combinations that scenarios and runs have tried, and those never tried."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chaosk.core.errors import UsageError

if TYPE_CHECKING:
    from chaosk.campaign.history.coverage import Coverage, TriedFaults

_SCENARIOS = Path("scenarios")
_WIDE = 240
"""Columns of a table in a file or a pipe."""


@click.command("coverage")
@click.argument("paths", nargs=-1, metavar="[SCENARIO|FOLDER]...", type=click.Path(path_type=Path))
@click.option("--runs", type=click.Path(path_type=Path), help="Folder of run directories to count.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(paths: tuple[Path, ...], *, runs: Path | None, as_markdown: bool, as_json: bool) -> None:
    """Print which faults the scenarios in PATHs (scenarios) inject into which roles, under which clients.

    With --runs, counts the runs of each combination by verdict. Lists untested combinations last.
    """
    if as_markdown and as_json:
        raise UsageError("--markdown and --json: one of them; leave the other out")
    from chaosk.campaign.history import coverage_view  # noqa: PLC0415 - pyarrow takes a second to load
    from chaosk.campaign.history.coverage import as_json as json_of  # noqa: PLC0415
    from chaosk.campaign.history.coverage import coverage  # noqa: PLC0415

    told = coverage(_scenarios(paths, runs), [] if runs is None else _runs(runs))
    if as_json:
        click.echo(json_of(told))
    elif as_markdown:
        click.echo(coverage_view.markdown(told), nl=False)
    else:
        _print(told)


def _scenarios(paths: Sequence[Path], runs: Path | None) -> list[TriedFaults]:
    """Return the combinations that scenarios try; by default those in ``scenarios/``, if it exists."""
    from chaosk.campaign.gate.choice import choose  # noqa: PLC0415
    from chaosk.campaign.history.coverage import of_scenario  # noqa: PLC0415 - as above

    named = paths or ((_SCENARIOS,) if _SCENARIOS.is_dir() else ())
    if not named and runs is None:
        raise UsageError("name scenarios, or a folder of them, like: chaosk coverage scenarios/")
    return [of_scenario(one.scenario) for one in choose(named, {}, (), (1, 1))] if named else []


def _runs(folder: Path) -> list[TriedFaults]:
    """Return the combinations that the runs have tried; skipped folders are reported on stderr."""
    from chaosk.campaign.history.coverage import of_run  # noqa: PLC0415 - as above
    from chaosk.campaign.history.folders import find, passed  # noqa: PLC0415
    from chaosk.campaign.history.stored_run import judged  # noqa: PLC0415
    from chaosk.core.printable import printable  # noqa: PLC0415

    found, tries = find([folder]), []
    for one in judged(found):
        try:
            tries.append(of_run(one))
        except UsageError as error:
            found.passed.append(passed(one.run.root, error))
    for each in found.passed:
        click.echo(printable(f"passed over {each.folder}: {each.why}"), err=True)
    return tries


def _print(told: Coverage) -> None:
    from rich.console import Console  # noqa: PLC0415 - as above

    from chaosk.campaign.history.coverage_view import on_terminal  # noqa: PLC0415

    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE)
    for part in on_terminal(told):
        console.print(part)
