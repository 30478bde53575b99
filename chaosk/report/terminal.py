"""The summary on the terminal: the verdict, its reasons, and the path of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from chaosk.core.figures import counted
from chaosk.core.printable import printable
from chaosk.report.grouped import grouped, rules
from chaosk.report.headline import LOSS, gist, headline, sign, tone
from chaosk.report.measures import ObjectiveRow, objective_rows, tiles
from chaosk.report.reasons import reason_told
from chaosk.report.timeline import causes
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Finding, Outcome, Severity, Verdict

STYLES = {
    Outcome.PASS: "bold green",
    Outcome.DEGRADED: "bold yellow",
    Outcome.INCONCLUSIVE: "bold magenta",
    Outcome.VIOLATION: "bold red",
}
_LOSS = "bold magenta"
_STATES = {"met": ("✓ met", "green"), "missed": ("✕ missed", "red"), "not measured": ("? not measured", "magenta")}
_SEVERITIES = {Severity.VIOLATION: ("✕", "red"), Severity.ALLOWED: ("▲", "yellow")}


def summary(verdict: Verdict, run: RunDir) -> RenderableType:
    """Return the output for a judged run; rich omits colours without a terminal or with ``NO_COLOR``."""
    return Group(*_parts(verdict, run))


def _parts(verdict: Verdict, run: RunDir) -> Iterator[RenderableType]:
    yield Text("")
    yield _line(f"{sign(verdict)} {headline(verdict)}", _LOSS if tone(verdict) == LOSS else STYLES[verdict.verdict])
    yield _line(f"  {verdict.scenario}: {verdict.hypothesis}", "dim")
    for cause in causes(verdict, run):
        yield _line(f"  {cause}.")
    if said := gist(verdict):
        yield _line(f"  {said}")
    yield from _guards(verdict)
    yield from _findings(verdict)
    objectives = objective_rows(verdict.objectives)
    if objectives:
        yield Padding(_objectives(objectives), (1, 0, 0, 2))
    elif figures := tiles(verdict):
        yield Text("")
        yield _line("  " + "; ".join(f"{tile.name} {tile.value}" for tile in figures))
    yield Text("")
    yield Text("report: ").append(printable(str(run.html)), style="bold")


def _line(text: str, style: str = "") -> Text:
    """Return a literal line: no markup, no cursor control."""
    return Text(printable(text), style=style)


def _guards(verdict: Verdict) -> Iterator[RenderableType]:
    if verdict.guards:
        yield Text("")
    for guard in verdict.guards:
        yield _line(f"  ? {guard.guard.replace('_', ' ')}: {guard.what}", "magenta")


def _findings(verdict: Verdict) -> Iterator[RenderableType]:
    groups = grouped(finding for finding in verdict.findings if finding.severity is not Severity.INFORMATION)
    if groups:
        yield Text("")
    for group in groups:
        finding = group[0]
        mark, style = _SEVERITIES[finding.severity]
        why = f"; {reason}" if (reason := reason_told(finding)) else ""
        where = "; ".join(f"{_rows(one)}; chaosk explain {one.rule}" for one in group)
        yield _line(f"  {mark} {rules(group)} {finding.title}{why} ({where})", style)


def _rows(finding: Finding) -> str:
    return f"{counted(finding.count, 'row')} in evidence/{finding.check}.jsonl"


def _objectives(rows: Sequence[ObjectiveRow]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    for column in ("objective", "of", "over", "asked for", "measured", "result"):
        table.add_column(column, justify="right" if column == "measured" else "left", overflow="fold")
    for row in rows:
        said, style = _STATES[row.state]
        cells = (row.name, row.subject, row.window, row.asked, row.measured)
        table.add_row(*(Text(printable(cell)) for cell in cells), Text(said, style=style))
    return table
