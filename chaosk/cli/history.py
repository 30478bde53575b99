"""``chaosk history``: all runs below a folder over time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaosk.core.errors import UsageError

if TYPE_CHECKING:
    from chaosk.campaign.history.folders import Passed
    from chaosk.campaign.history.history import HistoryRow

_WIDE = 200
"""Columns of a table in a file or a pipe."""


class _Moment(click.ParamType[datetime]):
    name = "date"

    def convert(self, value: Any, *rest: Any) -> datetime:  # noqa: ANN401 - click's
        try:
            found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no date; write one like 2026-11-24, or 2026-11-24T01:02:03Z", *rest)
        return found if found.tzinfo else found.replace(tzinfo=UTC)


@click.command("history")
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=click.Path(path_type=Path))
@click.option("--scenario", "word", metavar="WORD", help="Select scenarios whose name contains this word.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Metric to print (unavailability, recovery).")
@click.option("--since", type=_Moment(), help="Select runs since this day (UTC), like 2026-11-24.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def command(
    folders: tuple[Path, ...],
    *,
    word: str | None,
    metrics: tuple[str, ...],
    since: datetime | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Print all runs below FOLDERs (reports), oldest first, by scenario and cluster version.

    Reads only run directories, including those of gates; a folder without a judged run is named and skipped.
    """
    if as_json and as_csv:
        raise UsageError("--json and --csv: one of them; leave the other out")
    from chaosk.campaign.history import history_view  # noqa: PLC0415 - pyarrow takes a second to load

    asked = _metrics(metrics)
    rows, passed = _rows(folders or (Path("reports"),), asked, word, since)
    if as_json:
        click.echo(history_view.as_json(rows, passed))
        return
    if as_csv:
        click.echo(history_view.as_csv(rows, asked), nl=False)
    else:
        _table(rows, asked)
    for each in passed:
        click.echo(_line(each), err=True)


def _metrics(asked: tuple[str, ...]) -> tuple[str, ...]:
    from chaosk.campaign.history.history import DEFAULT  # noqa: PLC0415 - as above
    from chaosk.core.suggest import instead  # noqa: PLC0415 - for a mistake only
    from chaosk.spec.metrics import METRICS  # noqa: PLC0415

    for name in asked:
        if name not in METRICS:
            raise UsageError(f"--metric {name}: there is no such metric; {instead(name, METRICS)}")
    return tuple(dict.fromkeys(asked)) or DEFAULT


def _rows(
    folders: Sequence[Path], metrics: Sequence[str], word: str | None, since: datetime | None
) -> tuple[list[HistoryRow], list[Passed]]:
    """Return the selected rows and the skipped folders; raises UsageError if no row is selected."""
    from chaosk.campaign.history.folders import find  # noqa: PLC0415 - as above
    from chaosk.campaign.history.history import chosen, row  # noqa: PLC0415
    from chaosk.campaign.history.stored_run import judged  # noqa: PLC0415

    found = find(folders)
    every = [row(one, metrics) for one in judged(found)]
    rows = chosen(every, word, since)
    if every and not rows:
        raise UsageError(f"none of {len(every)} runs is of such a scenario and time; ask for more of them")
    return rows, found.passed


def _table(rows: Sequence[HistoryRow], metrics: Sequence[str]) -> None:
    from rich.console import Console  # noqa: PLC0415 - as above

    from chaosk.campaign.history.history_view import on_terminal  # noqa: PLC0415

    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE)
    for part in on_terminal(rows, metrics, Path.cwd()):
        console.print(part, soft_wrap=not hasattr(part, "columns"))


def _line(each: Passed) -> str:
    from chaosk.core.printable import printable  # noqa: PLC0415 - as above

    return printable(f"passed over {each.folder}: {each.why}")
