"""The console's frame: a view as a fixed number of rows and columns. Pure."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from functools import cache

from rich.console import Console
from rich.text import Text

from chaosk.run.gameday import sections
from chaosk.run.gameday.sections import GUTTER, Section, harmless
from chaosk.run.gameday.terminal import HEIGHT, WIDTH
from chaosk.run.gameday.view import ConsoleView

_KEYS = {
    "asked": "g go   s skip   n note   h heal and stop   up/down scroll",
    "keys": "h heal now and stop   n note   q heal and stop, after a question",
    "note": "enter keeps the note   escape drops it   Ctrl-C heals and stops",
    "confirm": "y heal everything and end the run   any other key goes on",
}


def screen(view: ConsoleView, width: int, height: int) -> tuple[Text, ...]:
    """Return the rows of a frame; for a terminal that has become too small, only a message."""
    if width < WIDTH or height < HEIGHT:
        rows = [
            Text(f"too small: {width}x{height}, make it {WIDTH}x{HEIGHT}", "bold red"),
            Text("h heals now and stops"),
        ]
        return _cut(rows[:height], width, height)
    head, foot = [_head(view)], _foot(view)
    room = height - len(head) - len(foot)
    body = _body(view, width - GUTTER, room)
    return _cut([*head, *body, *(Text() for _ in range(room - len(body))), *foot], width, height)


def painted(rows: Sequence[Text], width: int) -> list[str]:
    """Return the rows with the escape sequences of their colours."""
    console = _console(width)
    found = []
    for row in rows:
        with console.capture() as capture:
            console.print(row, end="", no_wrap=True, overflow="crop", crop=True, soft_wrap=False)
        found.append(capture.get())
    return found


@cache
def _console(width: int) -> Console:
    colours = None if os.environ.get("NO_COLOR") else "standard"
    return Console(
        file=io.StringIO(), force_terminal=True, width=width, color_system=colours,  # type: ignore[arg-type] # a literal
        highlight=False, markup=False, legacy_windows=False,
    )  # fmt: skip


def _cut(rows: list[Text], width: int, height: int) -> tuple[Text, ...]:
    rows = [row.copy() for row in rows[:height]]
    for row in rows:
        row.plain = harmless(row.plain)
        row.truncate(width, overflow="ellipsis" if width else "crop")  # rich puts an ellipsis even into zero columns
    return (*rows, *(Text() for _ in range(height - len(rows))))


def _head(view: ConsoleView) -> Text:
    status = view.status
    if view.over:
        phase = ("over, judging", "bold")
    elif view.stopping:
        phase = ("HEALING", "bold red")
    else:
        phase = (status.phase.replace("_", " ") or "preparing", "bold")
    stands = "  timeline paused" if status.stands else ""
    return Text.assemble(
        ("GAME DAY  ", "bold"),
        phase,
        f" {status.elapsed:+.0f} s{stands}  ",
        (f"{view.operator}  {view.scenario}", "dim"),
    )


def _foot(view: ConsoleView) -> list[Text]:
    keys = _KEYS["asked" if view.mode == "keys" and view.asked else view.mode]
    if view.over:
        keys = "the run is over; its report is being made"
    elif view.stopping:
        keys = "everything is being healed; Ctrl-C once more leaves that to the hosts"
    rows = [Text(f" {keys}", "reverse")]
    if view.mode == "note":
        rows.insert(0, Text.assemble(("note> ", "bold"), view.typed[-(WIDTH - 10) :], ("_", "blink")))
    elif view.mode == "confirm":
        rows.insert(0, Text("heal everything and end the run?", "bold red"))
    return rows


def _body(view: ConsoleView, width: int, room: int) -> list[Text]:
    """Return all sections in the available rows; an open question comes first and replaces the timeline."""
    top = sections.question(view, width) if view.asked else sections.timeline(view)
    parts = [
        top, sections.faults(view), sections.probes(view), sections.cluster(view, width), sections.groups(view),
        sections.said(view, width, room),
    ]  # fmt: skip
    parts = [part for part in parts if part.rows]
    return [row for part, rows in zip(parts, shares(parts, room), strict=True) for row in _labelled(part, rows)]


def shares(parts: Sequence[Section], room: int) -> list[int]:
    """Return the rows of each part: first its least, then the rest to the first part that can use it."""
    given: list[int] = []
    for part in parts:
        given.append(min(part.least, len(part.rows), room - sum(given)))
    for number, part in enumerate(parts):
        given[number] += min(len(part.rows) - given[number], room - sum(given))
    return given


def _labelled(part: Section, count: int) -> list[Text]:
    shown = list(part.rows[:count])
    if part.label == "said":
        shown = list(part.rows[len(part.rows) - count :])
    elif 0 < count < len(part.rows):
        left = len(part.rows) - count + 1
        shown[-1] = Text(f"... {left} more rows{', press down' if part.label == 'ask' else ''}", "dim")
    labels = [part.label, *([""] * (count - 1))]
    return [Text.assemble((f"{label:<{GUTTER}}", "dim"), row) for label, row in zip(labels, shown, strict=True)]
