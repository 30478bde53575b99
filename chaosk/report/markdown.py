"""``report.md``: a short verdict for a pull request, with every value escaped for Markdown and embedded HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from chaosk.core.figures import counted, number
from chaosk.core.printable import printable
from chaosk.report.content import Proof, ReportContent
from chaosk.report.ledger import COLUMNS
from chaosk.report.measures import window_name
from chaosk.report.stalls import named
from chaosk.report.words import since
from chaosk.rundir.verdict import Severity

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


def markdown(content: ReportContent) -> str:
    """Render the report, headline first, with tables of objectives, findings and measures."""
    sections = (
        _head(content), _ledger(content), _guards(content), _objectives(content), _findings(content), _stalls(content),
        _faults(content), _decisions(content), _clocks(content), _measures(content), _foot(content),
    )  # fmt: skip
    return "\n".join(line for section in sections for line in section) + "\n"


def _head(content: ReportContent) -> Iterator[str]:
    verdict = content.verdict
    yield f"## {content.sign} {escaped(content.headline)}"
    yield ""
    yield f"**{escaped(verdict.scenario)}** — {escaped(verdict.hypothesis)}"
    if content.why:
        yield ""
    yield from (f"- {escaped(cause)}." for cause in content.why)
    if content.gist:
        yield ""
        yield escaped(content.gist)
    if not verdict.healed:
        why = "; ".join(content.not_healed) or "see the faults"
        yield ""
        yield f"**The cluster was not put back:** {escaped(why)}"
    if content.broken_off:
        yield ""
        yield f"**The run was broken off:** {escaped(content.broken_off)}"
    for limit, reason in verdict.allowed.items():
        yield ""
        yield f"**Beyond the limits of harm, on purpose** ({escaped(limit.replace('_', ' '))}): {escaped(reason)}"


def _ledger(content: ReportContent) -> Iterator[str]:
    rows = [(r.topic, r.whom, r.owed, r.delivered, r.violation, r.excused, r.not_judged, r.sum) for r in content.ledger]
    yield from section("Ledger", COLUMNS, rows)


def _guards(content: ReportContent) -> Iterator[str]:
    if content.verdict.guards:
        yield from _title("Why the evidence does not carry")
        for guard in content.verdict.guards:
            yield f"- **{escaped(guard.guard.replace('_', ' '))}**: {escaped(guard.what)}"


def _objectives(content: ReportContent) -> Iterator[str]:
    signs = {"met": "✓ met", "missed": "✕ missed", "not measured": "? not measured"}
    rows = [(o.name, o.subject, o.window, o.asked, o.measured, signs[o.state]) for o in content.objectives]
    yield from section("Objectives", ("objective", "of", "over", "asked for", "measured", "result"), rows)


def _findings(content: ReportContent) -> Iterator[str]:
    if content.findings:
        yield from _title("Findings")
    for shown in content.findings:
        finding = shown.finding
        notes = [f"during {', '.join(shown.faults)}"] if shown.faults else []
        notes += ["predicted"] if shown.predicted else []
        told = f" ({escaped('; '.join(notes))})" if notes else ""
        yield f"**{finding.severity} {escaped(shown.rules)}**: {escaped(finding.title)}{told}"
        yield ""
        for proof in shown.proofs if finding.severity is not Severity.INFORMATION else ():
            yield from _proof(proof, alone=len(shown.proofs) == 1)


def _proof(proof: Proof, *, alone: bool) -> Iterator[str]:
    """Yield the evidence of one rule: ranges if possible, else its first rows."""
    finding = proof.finding
    reason = f" ({escaped(finding.reason)})" if finding.reason else ""
    if not alone:
        yield f"{escaped(finding.rule)}: {escaped(finding.title)}{reason}:"
        yield ""
    elif reason:
        known = "Known" if finding.severity is Severity.VIOLATION else "Allowed"
        yield f"{known}{reason}."
        yield ""
    if proof.ranges:
        yield from (f"- {escaped(told)}" for told in proof.ranges)
        if proof.more:
            yield f"- {number(proof.more)} more"
        yield ""
        yield f"{counted(finding.count, 'row')} in `evidence/{finding.check}.jsonl`."
        yield ""
        return
    yield from _table(proof.table.columns, proof.table.rows[:MOST_ROWS])
    if finding.count > MOST_ROWS:
        yield f"{MOST_ROWS} of {number(finding.count)} rows; all in `evidence/{finding.check}.jsonl`."
        yield ""


def _stalls(content: ReportContent) -> Iterator[str]:
    if content.explanations:
        yield from _title("Why it stalled")
    for e in content.explanations:
        counts = [f"{number(count)} {name}" for name, count in (*e.outcomes, *e.errors)]
        counts += [] if e.errors else ["no client error"]
        told = f" ({escaped('; '.join(counts))})" if counts else ""
        at = since(content.axis.seconds(e.stall.longest.began))
        where = f"**{escaped(e.stall.longest.who)}** at {at}, {escaped(named(e.stall.places))}"
        yield f"- {where}: {escaped(e.because)}{told}"


def _faults(content: ReportContent) -> Iterator[str]:
    def moment(at: int | None) -> str:
        return "never" if at is None else since(content.axis.seconds(at))

    rows = [
        (
            f.name,
            f.step,
            f.targets,
            moment(f.applied),
            moment(f.healed),
            "✓" if f.took and f.undone else f"✕ {f.why or ''}",
        )
        for f in content.faults
    ]
    yield from section("Faults", ("fault", "step", "whom", "in place", "undone", "took and undone"), rows)
    if content.waits:
        yield from _title("Waits and looks")
    for one in content.waits:
        until = f" to {moment(one.applied)}" if one.applied is not None else ""
        why = f": {one.why}" if one.why else ""
        yield f"- {escaped(f'{one.name}: {one.step}, {moment(one.invoked)}{until}{why}')}"


def _decisions(content: ReportContent) -> Iterator[str]:
    rows = [
        (since(content.axis.seconds(d.at)), d.time, d.who, d.entry or "", d.says, d.text or "")
        for d in content.verdict.decisions
    ]
    yield from section("Decisions and notes", ("moment", "UTC", "who", "entry", "what", "text"), rows)


def _clocks(content: ReportContent) -> Iterator[str]:
    if content.clocks:
        yield from _title("Clocks of hosts")
    for told in content.clocks:
        yield f"- {escaped(told)}"


def _measures(content: ReportContent) -> Iterator[str]:
    columns = ("figure", "of", *(window_name(window) for window in content.windows))
    rows = [(row.name, row.subject or "all", *row.cells) for row in content.measures]
    if rows:
        yield ""
        yield "<details><summary>Measured</summary>"
        yield ""
        yield from _table(columns, rows)
        yield "</details>"


def _foot(content: ReportContent) -> Iterator[str]:
    yield ""
    yield escaped(" · ".join(f"{name} {value}" for name, value in content.identity))
    for note in content.notes:
        yield ""
        yield f"Could not be read: {escaped(note)}"


def _title(text: str) -> tuple[str, ...]:
    return ("", f"### {text}", "")


def section(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a title and a table, every cell escaped; empty without rows."""
    if rows:
        yield from _title(title)
        yield from _table(columns, rows)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    lines = [f"| {' | '.join(escaped(cell, cell=True) or ' ' for cell in row)} |" for row in rows]
    if lines:
        yield f"| {' | '.join(escaped(column, cell=True) for column in columns)} |"
        yield f"|{' --- |' * len(columns)}"
        yield from lines
        yield ""
