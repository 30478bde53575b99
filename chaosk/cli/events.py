"""``chaosk events``: recorded events, for people and for pipes."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

import click
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from chaosk.core.errors import UsageError
from chaosk.core.units import parse_duration
from chaosk.rundir import paths as rundirs
from chaosk.rundir.events import TABLES, Table
from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.events.query import parse_where, select, table_of, window, zero
from chaosk.rundir.events.store import scan, streams
from chaosk.rundir.paths import RunDir

_SHOWN = 100
"""Rows of a table without --limit; a pipe gets all rows."""


_FORMS = ("table", "jsonl", "csv", "parquet")


class _Seconds(click.ParamType[float]):
    name = "duration"

    def convert(self, value: Any, *rest: Any) -> float:  # noqa: ANN401 - click's
        text = str(value)
        try:
            return -parse_duration(text[1:]) if text.startswith("-") else parse_duration(text)
        except ValueError as error:
            self.fail(str(error), *rest)


@click.command()
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.argument("table", required=False)
@click.option(
    "--where", multiple=True, metavar="COL=VALUE", help="Select rows by value; also COL!=VALUE, and COL= for empty."
)
@click.option(
    "--from", "begin", type=_Seconds(), help="Earliest time after the start of the timeline, like 10s or -5s."
)
@click.option("--to", "end", type=_Seconds(), help="Latest time after the start of the timeline.")
@click.option("--limit", type=click.IntRange(min=1), help=f"At most so many rows; a table shows {_SHOWN} without it.")
@click.option("--format", "form", type=click.Choice(_FORMS), default="table", show_default=True)
def command(  # noqa: PLR0913, PLR0917 - click hands over one argument an option
    run_dir: Path,
    table: str | None,
    where: tuple[str, ...],
    begin: float | None,
    end: float | None,
    limit: int | None,
    form: str,
) -> None:
    """Print the events of RUN_DIR: those of TABLE, or, without one, which tables there are.

    Works during the run as well. Times are nanoseconds of the run's monotonic clock, in a table seconds since the
    timeline's start. Rows are grouped by writer, in the order written.
    """
    rundir = rundirs.existing(run_dir)
    try:
        if table is None:
            _overview(rundir, form)
            return
        kind = table_of(table)
        conditions = [parse_where(kind, text) for text in where]
        origin = zero(rundir)
        span = window(kind, origin, begin, end)
        chosen = select(scan(rundir, table), [*conditions, *([span] if span else [])], _limit(limit, form))
        _print(kind, chosen, form, origin)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, which is not a failure; avoid Python's complaint at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _limit(limit: int | None, form: str) -> int | None:
    if limit is None and form == "table":
        return _SHOWN
    return limit


def _print(table: Table, batches: Iterator[pa.RecordBatch], form: str, origin: int | None) -> None:
    match form:
        case "jsonl":
            for row in _rows(batches):
                print(json.dumps(row, ensure_ascii=False))  # noqa: T201 - the command's output
        case "csv":
            _csv(table, batches, sys.stdout)
        case "parquet":
            _parquet(table, batches)
        case _:
            _table(table, batches, origin)


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()


def _csv(table: Table, batches: Iterator[pa.RecordBatch], out: TextIO) -> None:
    """Write CSV: a list of numbers is separated by spaces, an empty value is an empty field."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(column.name for column in table.columns)
    for row in _rows(batches):
        writer.writerow(" ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in row.values())


def _parquet(table: Table, batches: Iterator[pa.RecordBatch]) -> None:
    if sys.stdout.isatty():
        raise UsageError("Parquet is nothing to look at; send it to a file or a pipe: chaosk events … > events.parquet")
    with pq.ParquetWriter(sys.stdout.buffer, SCHEMAS[table.name], compression="zstd") as file:
        for batch in batches:
            file.write_batch(batch)


def _table(table: Table, batches: Iterator[pa.RecordBatch], origin: int | None) -> None:
    printed = RichTable(*(column.name for column in table.columns), box=None, header_style="bold")
    for row in _rows(batches):
        cells = ((row[column.name], column.kind == "time") for column in table.columns)
        printed.add_row(*(Text(_cell(value, time=time, origin=origin)) for value, time in cells))
    console = Console(width=None if sys.stdout.isatty() else 100_000)
    console.print(printed)
    if printed.row_count >= _SHOWN:
        click.echo(f"{printed.row_count} rows shown; --limit shows more", err=True)


def _cell(value: Any, *, time: bool, origin: int | None) -> str:  # noqa: ANN401 - of the column's kind
    if value is None:
        return ""
    if time and origin is not None:
        return f"{(value - origin) / 1e9:.6f}"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _overview(rundir: RunDir, form: str) -> None:
    """Print the tables with their rows, and the streams that are torn or not closed."""
    counts = {name: sum(batch.num_rows for batch in scan(rundir, name)) for name in TABLES}
    if form != "table":
        for name, rows in counts.items():
            print(json.dumps({"table": name, "rows": rows, "meaning": TABLES[name].meaning}))  # noqa: T201
        return
    printed = RichTable("table", "rows", "meaning", box=None, header_style="bold")
    for name, rows in counts.items():
        printed.add_row(name, f"{rows:,}", Text(TABLES[name].meaning))
    Console().print(printed)
    for stream in streams(rundir):
        if stream.torn or not stream.closed:
            click.echo(f"{stream.writer}/{stream.table}: {stream.torn or 'not closed: its writer runs or was killed'}")
