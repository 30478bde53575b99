"""The sections of a frame: each a label and rows of text, from the view alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from chaosk.core.figures import counted
from chaosk.run.active_faults import ActiveFault
from chaosk.run.clock import now
from chaosk.run.gameday.groups import Watched
from chaosk.run.gameday.view import ConsoleView
from chaosk.run.timeline import Outlook
from chaosk.spec.contracts.live import ProbeState

GUTTER = 10
"""Columns for the labels."""
_STYLES = {"in place": "yellow", "done": "green", "failed": "red", "skipped": "magenta", "asked": "bold yellow"}
_WRAPPING = Console(width=200, color_system=None)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the frame."""

    label: str
    rows: tuple[Text, ...]
    least: int = 1
    """Rows that it gets before others get more than their least."""


def short(seconds: float) -> str:
    """Format a remaining time: ``4:37``, ``12 s``."""
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}" if whole >= 100 else f"{whole} s"


def timeline(view: ConsoleView) -> Section:
    """Return the entries, from the last finished one on."""
    entries = view.status.outlook
    asked = view.asked.question.entry if view.asked else None
    over = [number for number, one in enumerate(entries) if one.state in ("done", "failed", "skipped")]
    running = [number for number, one in enumerate(entries) if number not in over]
    first = max(0, min(running, default=len(entries)) - 1)
    rows = tuple(_entry(one, "asked" if one.entry == asked else one.state) for one in entries[first:])
    return Section("timeline", rows, least=3)


def _entry(one: Outlook, state: str) -> Text:
    said = {"in place": "ends in", "waits": "due in"}.get(state)
    when = f", {said} {short(one.seconds)}" if said and one.seconds is not None and one.seconds > 0 else ""
    if state == "waits" and not when:
        when = " for its condition" if one.seconds is not None else " for its turn"
    return Text.assemble(f"{one.entry:<16} {one.kind:<20} ", (f"{state}{when}", _STYLES.get(state, "dim")))


def faults(view: ConsoleView) -> Section:
    """Return the faults in place, with the remaining time of their leases."""
    rows = tuple(_fault(one) for one in view.status.faults) or (Text("none in place", "dim"),)
    return Section("faults", rows, least=min(2, len(rows)))


def _fault(one: ActiveFault) -> Text:
    style = "red" if one.state == "NOT HEALED" else "yellow"
    lease = "" if one.lease is None else f"  lease {short(one.lease)}"
    return Text.assemble(
        f"{one.name}  ", (f"{one.state} {short(one.seconds)}", style), (lease, "cyan"), f"  {one.targets}"
    )


def probes(view: ConsoleView) -> Section:
    """Return rate, latency, outcomes and the last error of each probe."""
    states = view.status.probes
    rows = tuple(_probe(one, view.status.rates.get(one.probe), view.latencies.get(one.probe)) for one in states)
    return Section("probes", rows or (Text("none yet", "dim"),), least=min(3, max(1, len(rows))))


def _probe(state: ProbeState, rate: float | None, p99: float | None) -> Text:
    parts = [f"{state.probe:<10} {'-' if rate is None else format(rate, ',.0f') + '/s':>8} p99 {_latency(p99):>6}"]
    parts += [f"{word} {count:,}" for word, count in (("fail", state.fail), ("maybe", state.info)) if count]
    parts += [] if state.lag is None else [f"lag {state.lag:,}"]
    error = (f"  {state.last_error}" if state.last_error else "", "red")
    return Text.assemble("  ".join(parts), _over(state), error)


def _over(state: ProbeState) -> tuple[str, str]:
    if state.running:
        return "", ""
    return (f"  {state.process()}", "dim") if state.ended_well else (f"  {state.process().upper()}", "red")


def _latency(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1000:.0f} ms" if seconds < 10 else f"{seconds:.1f} s"


def cluster(view: ConsoleView, width: int) -> Section:
    """Return controller, brokers, and leaders and in-sync replicas of each topic."""
    rows = tuple(row for line in view.status.cluster for row in wrapped(line, width))
    return Section("cluster", rows or (Text("nothing is known yet", "dim"),), least=min(3, max(1, len(rows))))


def groups(view: ConsoleView) -> Section:
    """Return the consumer groups with their states."""
    return Section("groups", tuple(_group(one) for one in view.groups), least=min(2, len(view.groups)))


def _group(one: Watched) -> Text:
    state = one.state
    if not state.state:
        return Text.assemble(f"{state.group:<16} ", (state.problem or "asking", "dim"))
    lag = "lag ?" if state.lag is None else f"lag {state.lag:,}"
    commits = "" if one.moved is None else f"  committed {short((now() - one.moved) / 1e9)} ago"
    rebalances = f"  rebalanced {one.rebalances}" if one.rebalances else ""
    members = counted(state.members, "member")
    told = f"{state.group:<16} {state.state}  {members}  {lag}{commits}{rebalances}"
    return Text.assemble(told, (f"  {state.problem}" if state.problem else "", "red"))


def said(view: ConsoleView, width: int, rows: int) -> Section:
    """Return the run's last messages."""
    lines = [row for line in view.said[-rows:] for row in wrapped(line, width)]
    return Section("said", tuple(lines[-rows:]), least=2)


def question(view: ConsoleView, width: int) -> Section:
    """Return the open question: targets, commands and undo of the step."""
    if view.asked is None:
        return Section("ask", ())
    rows = tuple(_question(view, width))
    return Section("ask", rows[min(view.scrolled, max(0, len(rows) - 1)) :], least=10)


def _question(view: ConsoleView, width: int) -> Iterator[Text]:
    assert view.asked is not None  # noqa: S101 - for mypy: the caller has checked
    asked, more = view.asked.question, view.asked.behind
    behind = f"  ({more} more to come)" if more else ""
    yield Text.assemble(
        (f"{asked.entry}: {asked.step}", "bold yellow"), f"  answer within {short(view.asked.left)}{behind}"
    )
    if asked.again:
        yield from wrapped(asked.again, width, "bold red")
    yield from wrapped(f"{asked.says}.", width)
    yield from wrapped(f"on {', '.join(asked.targets) or 'no particular node'}", width, "bold")
    yield from wrapped(_lasting(asked.lasts, asked.lease), width)
    for label, lines in (("does", asked.does), ("undo", asked.undoes)):
        for number, line in enumerate(lines):
            yield from _labelled(label if not number else "", line, width)


def _lasting(lasts: str, lease: str) -> str:
    told = lasts if lasts.startswith("leaves") else f"lasts {lasts}"
    return f"{told}; lease {lease}" if lease else told


def _labelled(label: str, line: str, width: int) -> Iterator[Text]:
    for number, row in enumerate(wrapped(line, width - 5)):
        yield Text.assemble((f"{label if not number else '':<5}", "dim"), row)


def harmless(text: str) -> str:
    """Replace each control character by a space."""
    return "".join(character if character.isprintable() else " " for character in text)


def wrapped(line: str, width: int, style: str = "") -> Sequence[Text]:
    """Wrap a line into rows."""
    clean = harmless(line)
    return tuple(Text(clean, style).wrap(_WRAPPING, max(1, width))) if clean.strip() else (Text(),)
