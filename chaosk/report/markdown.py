"""``report.md``: a short verdict for a pull request, with every value escaped for Markdown and embedded HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from chaosk.core.figures import counted, number
from chaosk.core.printable import printable
from chaosk.report.content import ReportContent
from chaosk.report.explain import Explanation
from chaosk.report.ledger import COLUMNS
from chaosk.report.measures import window_name
from chaosk.report.pages import environment
from chaosk.report.words import since
from chaosk.rundir.verdict import Fault

MOST_ROWS = 10
"""Evidence rows shown; report.html has more, evidence/ all."""

# Matches the start of emphasis, code, links, math, tables and HTML anywhere, GitHub's mentions, references to issues,
# emoji and links, and an underscore outside of a word.
_SPECIAL = re.compile(
    r"[\\`*\[\]<>|~$]|&(?=[#A-Za-z])|[@#](?=\w)|://|\Aww\w*\.|:(?=[\w+-]*[A-Za-z+]|100:|1234:)[\w+-]+:"
    r"|(?<![^\W_])_|_(?![^\W_])",
    re.IGNORECASE,
)
_CORE = re.compile(r"\A([(\"']*)(.*?)([)\"'.,;]*)\Z", re.DOTALL)
_AT_START = re.compile(r"\A(?:[-+#](?=\s|\Z)|[-=]+(?=\s*\Z)|#+(?=\s|\Z))|\A(?P<number>\d+)(?=[.)](?:\s|\Z))")


def escaped(text: object, *, cell: bool = False) -> str:
    """Escape text so that Markdown shows it unchanged and legible: without links, mentions or nesting.

    A word with special characters becomes a code span; the start of a list or a heading gets a backslash. ``cell``: for
    a cell of a table, which a bar would end.
    """
    words = " ".join(_word(word) for word in printable(str(text)).split())
    words = _AT_START.sub(lambda found: f"{found['number']}\\" if found["number"] else f"\\{found[0]}", words)
    return words.replace("|", r"\|") if cell else words


def _word(word: str) -> str:
    if not _SPECIAL.search(word):
        return word
    found = _CORE.match(word)
    before, core, after = found.groups() if found else ("", word, "")
    if not core or _SPECIAL.search(before) or _SPECIAL.search(after):
        before, core, after = "", word, ""
    fence = "`" * (1 + max((len(ticks) for ticks in re.findall("`+", core)), default=0))
    room = " " if core[0] == "`" or core[-1] == "`" else ""
    return f"{before}{fence}{room}{core}{room}{fence}{after}"


def rendered(package: str, template: str, values: Mapping[str, object]) -> str:
    """Return a page in Markdown of a package's templates; every value is escaped."""
    return _pages(package).get_template(template).render(values)


@cache
def _pages(package: str) -> Environment:
    pages = environment(package, _shown)
    pages.globals |= {"section": section, "table": table, "code": code, "number": number, "counted": counted}
    return pages


def _shown(value: object) -> Markup:
    return value if isinstance(value, Markup) else Markup(escaped(value))  # noqa: S704 - escaped for Markdown


def markdown(content: ReportContent) -> str:
    """Render the report, headline first, with tables of objectives, findings and measures."""

    def moment(at: int | None) -> str:
        return "never" if at is None else since(content.axis.seconds(at))

    signs = {"met": "✓ met", "missed": "✕ missed", "not measured": "? not measured"}
    values = {field.name: getattr(content, field.name) for field in fields(content)} | {
        "most_rows": MOST_ROWS,
        "ledger_columns": COLUMNS,
        "ledger_rows": [
            (r.topic, r.whom, r.owed, r.delivered, r.violation, r.excused, r.not_judged, r.sum) for r in content.ledger
        ],
        "objective_rows": [
            (o.name, o.subject, o.window, o.asked, o.measured, signs[o.state]) for o in content.objectives
        ],
        "fault_rows": [
            (f.name, f.step, f.targets, moment(f.applied), moment(f.healed), _took(f)) for f in content.faults
        ],
        "decision_rows": [
            (moment(d.at), d.time, d.who, d.entry or "", d.says, d.text or "") for d in content.verdict.decisions
        ],
        "measure_columns": ("figure", "of", *map(window_name, content.windows)),
        "measure_rows": [(row.name, row.subject or "all", *row.cells) for row in content.measures],
        "identity": [f"{name} {value}" for name, value in content.identity],
        "waits": [_wait(one, moment) for one in content.waits],
        "counts": _counts,
    }
    return rendered("chaosk.report", "report.md.j2", values)


def _took(fault: Fault) -> str:
    return "✓" if fault.took and fault.undone else f"✕ {fault.why or ''}"


def _wait(one: Fault, moment: Callable[[int | None], str]) -> str:
    until = f" to {moment(one.applied)}" if one.applied is not None else ""
    why = f": {one.why}" if one.why else ""
    return f"{one.name}: {one.step}, {moment(one.invoked)}{until}{why}"


def _counts(explained: Explanation) -> list[str]:
    """Return the outcomes and errors of calls during a stall, with their numbers."""
    counts = [f"{number(count)} {name}" for name, count in (*explained.outcomes, *explained.errors)]
    return counts if explained.errors else [*counts, "no client error"]


def section(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a title and a table, every cell escaped; empty without rows."""
    return Markup(f"\n### {escaped(title)}\n\n{table(columns, rows)}") if rows else ""  # noqa: S704 - as above


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table and an empty line, every cell escaped; empty without rows."""
    lines = [f"| {' | '.join(escaped(cell, cell=True) or ' ' for cell in row)} |" for row in rows]
    if not lines:
        return ""
    head = f"| {' | '.join(escaped(column, cell=True) for column in columns)} |"
    return Markup("\n".join((head, f"|{' --- |' * len(columns)}", *lines, "", "")))  # noqa: S704 - as above


def code(lines: Sequence[str]) -> str:
    """Return a block of lines, indented and otherwise unchanged, so that no content can end the block."""
    return Markup("".join(f"    {printable(part)}\n" for line in lines for part in line.splitlines()))  # noqa: S704
