"""The runbook as Markdown, every value escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chaosk.core.printable import printable
from chaosk.planning.preview import PreviewRow
from chaosk.report.markdown import escaped, section
from chaosk.report.runbook.content import Runbook

_BY_HAND = (
    "Run these on any machine that reaches the hosts. The first ends the run and heals its hosts. The second undoes "
    "the faults that are left, with the commands above, which are stored on the hosts."
)


def markdown(books: Sequence[Runbook]) -> str:
    """Render all experiments, one after the other."""
    return "\n".join(line for book in books for line in _book(book)) + "\n"


def _book(book: Runbook) -> Iterator[str]:
    yield f"# Runbook: {escaped(book.name)}"
    yield ""
    yield f"**Hypothesis:** {escaped(book.hypothesis)}"
    yield from _people(book)
    yield from section("Cluster", ("what", ""), book.cluster)
    yield from section("Probes", ("probe", "does"), book.probes)
    yield from section("Expected", ("figure", "bound"), book.expects)
    yield from section("Beyond the limits of harm, on purpose", ("limit", "why"), book.allowed)
    yield from _aborts(book)
    for number, row in enumerate(book.rows, 1):
        yield from _step(number, row)
    yield from _by_hand(book)


def _people(book: Runbook) -> Iterator[str]:
    yield ""
    yield "| role | name | how to reach |"
    yield "| --- | --- | --- |"
    yield from (f"| {escaped(role)} |  |  |" for role in book.roles)
    yield ""
    yield "Date: ______________  Began: ________  Ended: ________"


def _aborts(book: Runbook) -> Iterator[str]:
    yield ""
    yield "## When to stop"
    yield ""
    yield "The run heals everything and stops as soon as one of these holds:"
    yield ""
    yield from (f"- {escaped(abort)}" for abort in book.aborts or ("none is set",))
    yield ""
    yield "We stop as well when (fill in): ____________________________________________"
    yield ""
    yield "To stop: **h** at the console. It heals at once, without confirmation."


def _step(number: int, row: PreviewRow) -> Iterator[str]:
    yield ""
    yield f"## {number}. {escaped(row.entry)}: {escaped(row.step)}"
    yield ""
    yield f"- When: {escaped(row.starts)}"
    if row.targets:
        yield f"- Target: {escaped('; '.join(row.targets))}"
    yield f"- What it does: {escaped(row.says)}."
    yield f"- How long: {escaped(row.lasts)}"
    if row.lease:
        yield f"- If chaosk dies: the host undoes it when its lease expires; lease {escaped(row.lease)}"
    note = ", an example: only the running cluster knows the target" if row.example else ""
    for label, lines in ((f"Commands{note}", row.does), (f"Its undo{note}", row.undoes)):
        if lines:
            yield ""
            yield f"{label}:"
            yield ""
            yield from _code(lines)
    if row.undone:
        yield ""
        yield f"The undo is complete when: {escaped('; '.join(row.undone))}"
    yield ""
    yield "- [ ] go  - [ ] skip  - [ ] heal and stop    at ________  by ______________"
    yield "- [ ] in place seen    - [ ] undone seen"
    yield ""
    yield "Seen: ______________________________________________________________"


def _code(lines: Sequence[str]) -> Iterator[str]:
    """Indent lines unchanged, so that no content can end the block."""
    yield from (f"    {printable(part)}" for line in lines for part in line.splitlines())


def _by_hand(book: Runbook) -> Iterator[str]:
    yield ""
    yield "## Healing without the console"
    yield ""
    yield _BY_HAND
    yield ""
    yield from _code(book.by_hand)
    yield ""
    yield "- [ ] everything healed, seen by ______________ at ________"
