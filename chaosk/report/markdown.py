"""``report.md``: the verdict for a pull request, short, every value escaped for Markdown and for HTML in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from chaosk.figures import number
from chaosk.report.content import Content
from chaosk.report.measures import window_name
from chaosk.report.stalls import named
from chaosk.report.words import printable, since
from chaosk.verdict import Severity

MOST_ROWS = 10
"""Evidence rows shown; report.html has more, evidence/ all."""

# What starts emphasis, code, links, mentions, issue references, math, tables or HTML anywhere; a colon before a
# letter (URLs and emoji become links and pictures) and the dot after www; and what starts a list or a heading.
_SPECIAL = re.compile(r"[\\`*_\[\]<>&|#@~$!]|:(?=\S)|(?<=www)\.|\A[-+=]|\A\d(?=\d*[.)](?:\s|\Z))", re.IGNORECASE)


def escaped(text: object) -> str:
    """Text that Markdown shows as it is: nothing in it links, mentions, nests or ends a table cell.

    Special characters become character references, which no dialect of Markdown gives a meaning.
    """
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", printable(str(text)).strip())


def markdown(content: Content) -> str:
    """The report, headline first, with tables of what was asked for, found and measured."""
    sections = (
        _head(content), _guards(content), _objectives(content), _findings(content), _stalls(content), _faults(content),
        _decisions(content), _clocks(content), _measures(content), _foot(content),
    )  # fmt: skip
    return "\n".join(line for section in sections for line in section) + "\n"


def _head(content: Content) -> Iterator[str]:
    verdict = content.verdict
    yield f"## {content.sign} {escaped(content.headline)}"
    yield ""
    yield f"**{escaped(verdict.scenario)}** — {escaped(verdict.hypothesis)}"
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


def _guards(content: Content) -> Iterator[str]:
    if content.verdict.guards:
        yield from _title("Why the evidence does not carry")
        for guard in content.verdict.guards:
            yield f"- **{escaped(guard.guard.replace('_', ' '))}**: {escaped(guard.what)}"


def _objectives(content: Content) -> Iterator[str]:
    signs = {"met": "✓ met", "missed": "✕ missed", "not measured": "? not measured"}
    rows = [(o.name, o.subject, o.window, o.asked, o.measured, signs[o.state]) for o in content.objectives]
    yield from section("Objectives", ("objective", "of", "over", "asked for", "measured", "result"), rows)


def _findings(content: Content) -> Iterator[str]:
    if content.findings:
        yield from _title("Findings")
    for finding, evidence, predicted in content.findings:
        notes = [finding.reason] if finding.reason else []
        notes += [f"during {', '.join(finding.faults)}"] if finding.faults else []
        notes += ["predicted"] if predicted else []
        told = f" ({escaped('; '.join(notes))})" if notes else ""
        yield f"**{finding.severity} {escaped(finding.rule)}**: {escaped(finding.title)}{told}"
        yield ""
        if finding.severity is Severity.INFORMATION:
            continue
        yield from _table(evidence.columns, evidence.rows[:MOST_ROWS])
        if finding.count > MOST_ROWS:
            yield f"{MOST_ROWS} of {number(finding.count)} rows; all in `evidence/`."
            yield ""


def _stalls(content: Content) -> Iterator[str]:
    if content.explanations:
        yield from _title("Why it stalled")
    for e in content.explanations:
        counts = [f"{number(count)} {name}" for name, count in (*e.outcomes, *e.errors)]
        counts += [] if e.errors else ["no client error"]
        told = f" ({escaped('; '.join(counts))})" if counts else ""
        at = since(content.axis.seconds(e.stall.longest.began))
        where = f"**{escaped(e.stall.longest.who)}** at {at}, {escaped(named(e.stall.places))}"
        yield f"- {where}: {escaped(e.because)}{told}"


def _faults(content: Content) -> Iterator[str]:
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
        for f in content.verdict.faults
    ]
    yield from section("Faults", ("fault", "step", "aimed at", "in place", "undone", "took and undone"), rows)


def _decisions(content: Content) -> Iterator[str]:
    rows = [
        (since(content.axis.seconds(d.at)), d.time, d.who, d.entry or "", d.says, d.text or "")
        for d in content.verdict.decisions
    ]
    yield from section("Decisions and notes", ("moment", "UTC", "who", "entry", "what", "text"), rows)


def _clocks(content: Content) -> Iterator[str]:
    if content.clocks:
        yield from _title("Clocks of hosts")
    for told in content.clocks:
        yield f"- {escaped(told)}"


def _measures(content: Content) -> Iterator[str]:
    columns = ("figure", "of", *(window_name(window) for window in content.windows))
    rows = [(row.name, row.subject or "all", *row.cells) for row in content.measures]
    if rows:
        yield ""
        yield "<details><summary>Measured</summary>"
        yield ""
        yield from _table(columns, rows)
        yield "</details>"


def _foot(content: Content) -> Iterator[str]:
    yield ""
    yield escaped(" · ".join(f"{name} {value}" for name, value in content.identity))
    for note in content.notes:
        yield ""
        yield f"Could not be read: {escaped(note)}"


def _title(text: str) -> tuple[str, ...]:
    return ("", f"### {text}", "")


def section(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A title and a table, every cell escaped; nothing without rows."""
    if rows:
        yield from _title(title)
        yield from _table(columns, rows)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    lines = [f"| {' | '.join(escaped(cell) or ' ' for cell in row)} |" for row in rows]
    if lines:
        yield f"| {' | '.join(escaped(column) for column in columns)} |"
        yield f"|{' --- |' * len(columns)}"
        yield from lines
        yield ""
