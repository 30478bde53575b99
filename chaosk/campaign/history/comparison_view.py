"""Output of a comparison: on a terminal, as a page, in Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby

from markupsafe import Markup
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from chaosk.campaign.history.comparison import RunColumn, RunComparison
from chaosk.campaign.history.differences import Difference
from chaosk.campaign.history.history import Figure
from chaosk.core.figures import figure, metric_name
from chaosk.core.printable import printable
from chaosk.report.markdown import rendered as markdown_page
from chaosk.report.measures import window_name
from chaosk.report.pages import rendered
from chaosk.report.terminal import STYLES
from chaosk.report.words import SIGNS

MOST_ROWS = 1000
"""Maximum number of settings on a page."""
_LONGEST = 300
"""Maximum number of characters shown of a value; JSON has all."""


def html(told: RunComparison, svg: str) -> str:
    """Return the page; every value is escaped, except the drawing, which matplotlib escapes."""
    values = {
        "title": _title(told),
        "runs": [_run(column) for column in told.runs],
        "notes": _notes(told),
        "svg": Markup(svg),  # noqa: S704 - as its docstring says
        "differences": [
            (group, [(each.setting, _values(each)) for each in rows])
            for group, rows in groupby(told.differences[:MOST_ROWS], key=lambda each: each.group)
        ],
        "figures": [
            (window_name(window), [(metric_name(row.metric), row.subject, _cells(row.values)) for row in rows])
            for window, rows in groupby(told.figures, key=lambda row: row.window)
        ],
    }
    return rendered("chaosk.campaign.history", "comparison.html.j2", values)


def markdown(told: RunComparison) -> str:
    """Return the page without the drawing, for a pull request; every value is escaped."""
    names = ("letter", "scenario", "began", "cluster", "headline", "took", "folder")
    values = {
        "title": _title(told),
        "runs": [
            [(f"{SIGNS[one.verdict]} " if name == "headline" else "") + _run(one)[name] for name in names]
            for one in told.runs
        ],
        "letters": [column.letter for column in told.runs],
        "differences": [(each.group, each.setting, *_values(each)) for each in told.differences[:MOST_ROWS]],
        "figures": [
            (metric_name(row.metric), row.subject, window_name(row.window), *_cells(row.values)) for row in told.figures
        ],
        "notes": _notes(told),
    }
    return markdown_page("chaosk.campaign.history", "comparison.md.j2", values)


def as_json(told: RunComparison) -> str:
    """Return the whole comparison, with the lines as numbers."""
    return json.dumps(told.model_dump(mode="json"), indent=1) + "\n"  # as ASCII: a plan may contain lone surrogates


def on_terminal(told: RunComparison) -> Iterator[RenderableType]:
    """Yield runs, differences, and the figures of the whole run; only a page has those of the other windows."""
    runs = _table("run", "scenario", "began", "cluster", "verdict", "took")
    for column in told.runs:
        run, style = _run(column), STYLES[column.verdict]
        cells = (run["scenario"], run["began"], run["cluster"])
        verdict = Text(printable(f"{run['sign']} {run['headline']}"), style=style)
        runs.add_row(Text(column.letter, style="bold"), *_texts(cells), verdict, Text(run["took"]))
    yield runs
    yield from (Text(printable(f"{column.letter}: {column.folder}"), style="dim") for column in told.runs)
    letters = [column.letter for column in told.runs]
    yield Text("\nWhat differs" if told.differences else "\nNothing differs between the plans", style="bold")
    if told.differences:
        table = _table("", "setting", *letters)
        for each in told.differences[:MOST_ROWS]:
            table.add_row(*_texts((each.group, each.setting, *_values(each))))
        yield table
    whole = [row for row in told.figures if row.window == "run"]
    if whole:
        table = _table("figure", "of", *letters)
        for row in whole:
            table.add_row(*_texts((metric_name(row.metric), row.subject, *_cells(row.values))))
        yield Text("\nFigures of the whole run", style="bold")
        yield table
    yield from (Text(f"\n{printable(note)}", style="magenta") for note in _notes(told))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _texts(cells: Sequence[str]) -> list[Text]:
    return [Text(printable(cell)) for cell in cells]


def _title(told: RunComparison) -> str:
    names = list(dict.fromkeys(column.scenario for column in told.runs))
    rest = f" and {len(names) - 1} other scenarios" if len(names) > 1 else ""
    return f"{len(told.runs)} runs of {names[0]}{rest}, side by side"


def _run(column: RunColumn) -> dict[str, str]:
    on = column.cluster
    version = f"Kafka {on.kafka}" if on.kafka else ""
    return {
        "letter": column.letter,
        "scenario": column.scenario,
        "began": column.began.strftime("%Y-%m-%d %H:%M:%S"),
        "cluster": ", ".join(word for word in (on.name, version, on.mode, on.shape) if word),
        "sign": SIGNS[column.verdict],
        "headline": column.headline,
        "took": figure(column.seconds, "s"),
        "folder": column.folder,
    }


def _notes(told: RunComparison) -> list[str]:
    rest = len(told.differences) - MOST_ROWS
    return [*told.notes, *([f"{rest:,} more settings differ, and are not shown; JSON has all"] if rest > 0 else [])]


def _values(one: Difference) -> list[str]:
    """Return each run's value, shortened; a dash for a run without this setting."""
    shown = ("—" if value is None else value for value in one.values)
    return [value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…" for value in shown]


def _cells(values: Sequence[Figure | None]) -> list[str]:
    return ["" if one is None else figure(one.value, one.unit, censored=one.censored) for one in values]
