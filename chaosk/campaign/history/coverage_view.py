"""Output of the coverage: tables on a terminal and in Markdown, and a list of the untried combinations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from chaosk.campaign.history.coverage import Coverage, CoverageCell
from chaosk.core.figures import counted
from chaosk.core.printable import printable
from chaosk.report.markdown import rendered
from chaosk.report.words import SIGNS

NEVER = "·"
_AIMS, _CLIENTS = "Faults, by what they were aimed at", "Faults, by the clients that lived through them"


def on_terminal(told: Coverage) -> Iterator[RenderableType]:
    """Yield the two tables, their legend, and the list."""
    for title, columns, cells in _tables(told):
        table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False, row_styles=("", "on grey11"))
        table.add_column("fault", no_wrap=True)
        for name in columns:
            table.add_column(printable(name), justify="right", vertical="bottom")
        for row in _rows(told.faults, columns, cells):
            table.add_row(*(Text(printable(cell), style="dim" if cell == NEVER else "") for cell in row))
        yield Text(title, style="bold")
        yield table
        yield Text("")
    yield Text(legend(told), style="dim")
    yield Text("\nNever tried", style="bold")
    for what, missing in _missing(told):
        yield Text(printable(f"  {what}: "), style="dim").append(printable(missing))


def markdown(told: Coverage) -> str:
    """Return the same in Markdown; every value is escaped."""
    tables = [(title, columns, _rows(told.faults, columns, cells)) for title, columns, cells in _tables(told)]
    values = {"legend": legend(told), "tables": tables, "missing": _missing(told)}
    return rendered("chaosk.campaign.history", "coverage.md.j2", values)


def legend(told: Coverage) -> str:
    """Return the legend of the tables and of their cells."""
    of = counted(told.scenarios, "scenario")
    if not told.runs:
        return f"Of {of}: in how many of them."
    signs = ", ".join(f"{sign} {outcome}" for outcome, sign in SIGNS.items())
    both = f"{of} and {counted(told.runs, 'run')}"
    return f"Of {both}: in how many scenarios / in how many runs, and their verdicts ({signs})."


def _tables(told: Coverage) -> Iterator[tuple[str, Sequence[str], Mapping[tuple[str, str], str]]]:
    for title, columns, cells in ((_AIMS, told.roles, told.aims), (_CLIENTS, told.settings, told.clients)):
        yield title, columns, {(cell.fault, cell.met): _cell(cell, told) for cell in cells}


def _rows(faults: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[str, str], str]) -> list[list[str]]:
    return [[fault, *(cells.get((fault, column), NEVER) for column in columns)] for fault in faults]


def _cell(cell: CoverageCell, told: Coverage) -> str:
    """Return a cell like ``3``, or with runs ``3 / 12 ✓10 ✕2``."""
    if not told.runs:
        return str(cell.scenarios)
    known = ((sign, cell.verdicts.get(outcome)) for outcome, sign in SIGNS.items())
    verdicts = "".join(f" {sign}{count}" for sign, count in known if count)
    return f"{cell.scenarios} / {cell.runs}{verdicts}"


def _missing(told: Coverage) -> Iterator[tuple[str, str]]:
    """Yield the untried combinations, from general to specific: an item that is missing everywhere is listed once."""
    never = told.never
    whole = (("faults", never.faults), ("aimed at", never.roles), ("clients", never.settings))
    yield from ((what, ", ".join(each)) for what, each in whole if each)
    for how, by_fault, nowhere in (
        ("aimed at", never.aims, never.roles),
        ("with clients of", never.clients, never.settings),
    ):
        for fault, missing in by_fault.items():
            if rest := [each for each in missing if each not in nowhere]:
                yield f"{fault}, {how}", ", ".join(rest)
