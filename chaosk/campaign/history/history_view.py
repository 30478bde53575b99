"""Output of a history: with trends on a terminal, as JSON, and as CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from chaosk.campaign.history.folders import Passed
from chaosk.campaign.history.history import HistoryRow, RunGroup, groups
from chaosk.campaign.history.trend import LONGEST, span, sparkline
from chaosk.core.figures import figure, metric_name
from chaosk.core.printable import printable
from chaosk.report.terminal import STYLES
from chaosk.report.words import SIGNS
from chaosk.rundir.verdict import Outcome

_FORMULA = tuple("=+-@")


def as_json(rows: Sequence[HistoryRow], passed: Iterable[Passed]) -> str:
    """Return an object with ``runs`` and with the skipped folders."""
    told = {
        "runs": [each.model_dump(mode="json") for each in rows],
        "passed_over": [{"folder": printable(str(each.folder)), "why": each.why} for each in passed],
    }
    return json.dumps(told, indent=1)


def as_csv(rows: Sequence[HistoryRow], metrics: Sequence[str]) -> str:
    """Return a line for each run; each figure has a second column, true if its value is a lower bound."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = (
        "began",
        "scenario",
        "cluster",
        "kafka",
        "mode",
        "verdict",
        "found",
        "expected",
        "as_expected",
        "seconds",
    )
    writer.writerow((*columns, *(name for metric in metrics for name in (metric, f"{metric}_at_least")), "folder"))
    writer.writerows(map(_cells, rows))
    return out.getvalue()


def _cells(row: HistoryRow) -> list[str]:
    cluster = row.cluster
    told = [row.began.isoformat(), row.scenario, cluster.name, cluster.kafka, cluster.mode, row.verdict, row.found]
    told += [row.expected or "", str(row.as_expected).lower(), f"{row.seconds:.3f}"]
    for each in row.figures.values():
        told += ["", ""] if each is None else [f"{each.value!r}", str(each.censored).lower()]
    return [_plain(cell) for cell in (*told, row.folder)]


def _plain(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula."""
    shown = printable(text)
    return f"'{shown}" if shown.startswith(_FORMULA) and not _is_number(shown) else shown


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def on_terminal(rows: Sequence[HistoryRow], metrics: Sequence[str], base: Path) -> Iterator[RenderableType]:
    """Yield a table for each scenario and cluster version, with the trend of each figure below it."""
    for group in groups(rows):
        on = ", ".join(word for word in (f"Kafka {group.kafka}" if group.kafka else "", group.mode) if word)
        yield Text(printable(f"{group.scenario} — {on}" if on else group.scenario), style="bold")
        yield _table(group, metrics, base)
        yield from (_trend(group, metric) for metric in metrics if len(group.rows) > 1)
        yield Text("")


def _table(group: RunGroup, metrics: Sequence[str], base: Path) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    for name in ("when", "cluster", "verdict", "as expected"):
        table.add_column(name, no_wrap=True)
    for name in ("took", *map(metric_name, metrics)):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("run", overflow="fold")
    for row in group.rows:
        cells = [row.began.strftime("%Y-%m-%d %H:%M:%S"), row.cluster.name]
        figures = ["" if f is None else figure(f.value, f.unit, censored=f.censored) for f in row.figures.values()]
        table.add_row(
            *(Text(printable(cell)) for cell in cells),
            _verdict(row),
            Text(_expected(row)),
            *(Text(printable(cell)) for cell in (figure(row.seconds, "s"), *figures, _relative(row.folder, base))),
        )
    return table


def _verdict(row: HistoryRow) -> Text:
    if not row.healed:
        return Text("✕ NOT HEALED", style=STYLES[Outcome.VIOLATION])
    return Text(f"{SIGNS[row.verdict]} {row.verdict}", style=STYLES[row.verdict])


def _expected(row: HistoryRow) -> str:
    """Return ``yes`` if the scenario wants this outcome, else ``no``; with the found outcome if the verdict differs."""
    return ("yes" if row.as_expected else "no") + (f": {row.found}" if row.found != row.verdict else "")


def _relative(folder: str, base: Path) -> str:
    path = Path(folder)
    return str(path.relative_to(base)) if path.is_relative_to(base) else folder


def _trend(group: RunGroup, metric: str) -> Text:
    figures = [row.figures[metric] for row in group.rows]
    last = f", the last {LONGEST}" if len(figures) > LONGEST else ""
    line = Text(f"  {metric_name(metric)} ", style="dim")
    return line.append(sparkline(figures)).append(f" {span(figures[-LONGEST:]) or 'never measured'}{last}")
