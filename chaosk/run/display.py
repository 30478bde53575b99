"""The output during a run: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from chaosk.core.printable import printable
from chaosk.run.active_faults import ActiveFault
from chaosk.run.timeline import Outlook
from chaosk.spec.contracts.live import ProbeState

LINE_EVERY = 5.0
"""Seconds between two plain status lines."""
SHOWN_FOR = 1.5 * LINE_EVERY
"""Seconds for which an error is shown, if no other one follows: long enough to be on a plain line."""


@dataclass(frozen=True, slots=True)
class Status:
    """A snapshot of a running run."""

    phase: str
    elapsed: float
    """Seconds since the timeline began; negative before."""
    doing: str = ""
    """The timeline entries in place or in progress."""
    coming: str | None = None
    """The next entry of the timeline."""
    probes: tuple[ProbeState, ...] = ()
    rates: Mapping[str, float] = field(default_factory=dict)
    """Records per second by probe, over the last second or so."""
    cluster: tuple[str, ...] = ()
    """The watcher's lines: leaders, in-sync replicas, controller, ZooKeeper roles."""
    stands: bool = False
    """True if the timeline is paused for a question."""
    outlook: tuple[Outlook, ...] = ()
    """The entries of the timeline with their states."""
    faults: tuple[ActiveFault, ...] = ()
    """The faults that are not over."""

    @property
    def going_on(self) -> str:
        """Entries in place or in progress, and faults that outlast their entries; empty if there are none."""
        entries = self.doing.split(", ") if self.doing else []
        return ", ".join(dict.fromkeys((*entries, *(fault.name for fault in self.faults))))


class Display(Protocol):
    """The output of a run."""

    def say(self, line: str) -> None:
        """Print one line that stays."""
        ...

    def show(self, status: Status) -> None:
        """Show the current state in place of the last one."""
        ...


class Rates:
    """Records per second of each probe between two samples at least half a second apart."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, int]] = {}
        self._rates: dict[str, float] = {}

    def of(self, states: tuple[ProbeState, ...], at: float | None = None) -> dict[str, float]:
        """Return the rate by probe; ``at`` is the time of the sample in seconds, by default now."""
        moment = time.monotonic() if at is None else at
        for state in states:
            before = self._seen.get(state.probe)
            if before is None or state.ok < before[1]:
                self._seen[state.probe] = (moment, state.ok)
            elif moment - before[0] >= 0.5:
                self._rates[state.probe] = (state.ok - before[1]) / (moment - before[0])
                self._seen[state.probe] = (moment, state.ok)
        return dict(self._rates)


class RecentErrors:
    """The last error of each probe, dropped some time after the last occurrence."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, tuple[int, int, int, str | None]]] = {}

    def of(self, states: tuple[ProbeState, ...], at: float | None = None) -> tuple[ProbeState, ...]:
        """Return the states, without errors older than ``SHOWN_FOR`` seconds; ``at`` as for rates."""
        moment = time.monotonic() if at is None else at
        return tuple(self._of(state, moment) for state in states)

    def _of(self, state: ProbeState, moment: float) -> ProbeState:
        met = (state.fail, state.info, state.errors, state.last_error)
        since, before = self._seen.get(state.probe, (moment, None))
        if met != before:
            since = moment
            self._seen[state.probe] = (moment, met)
        return state if moment - since < SHOWN_FOR else state.model_copy(update={"last_error": None})


class PlainDisplay:
    """Plain lines, for logs and pipes: events as they happen, and the state every few seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began = time.monotonic()
        self._last = 0.0

    def say(self, line: str) -> None:
        """Print one line, with the seconds since the start before it."""
        self._console.print(
            f"{time.monotonic() - self._began:7.1f}s  {printable(line)}", markup=False, highlight=False, soft_wrap=True
        )

    def show(self, status: Status) -> None:
        """Print one line every few seconds."""
        moment = time.monotonic()
        if moment - self._last >= LINE_EVERY:
            self._last = moment
            probes = "  ".join(_short(state, status.rates) for state in status.probes)
            self.say(f"{status.phase}: {status.going_on or 'no fault in place'} | {probes}")


class TerminalDisplay:
    """A live display below the lines that stay; use as a context manager."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, refresh_per_second=4, transient=True)
        self._plain = PlainDisplay(console)

    def __enter__(self) -> Self:
        """Start drawing."""
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Remove the live display; the lines stay."""
        self._live.stop()

    def say(self, line: str) -> None:
        """Print one line that stays above the live display."""
        self._plain.say(line)

    def show(self, status: Status) -> None:
        """Redraw the live display."""
        self._live.update(picture(status))


def picture(status: Status) -> RenderableType:
    """Return the live display: entries in progress, the next entry, each probe, the cluster."""
    head = Text.assemble((f"{status.phase} ", "bold"), f"{status.elapsed:+.1f}s  ", (status.going_on or "-", "yellow"))
    if status.coming:
        head.append(f"   next: {status.coming}", "dim")
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("probe", "per second", "ok", "fail", "maybe", "lag", "last error"):
        table.add_column(column, justify="left" if column in ("probe", "last error") else "right")
    for state in status.probes:
        rate = status.rates.get(state.probe)
        table.add_row(
            Text(state.probe, "" if state.running or state.ended_well else "red"),
            "" if rate is None else f"{rate:,.0f}", f"{state.ok:,}", f"{state.fail:,}", f"{state.info:,}",
            "" if state.lag is None else f"{state.lag:,}", Text(state.last_error or "", "red"),
        )  # fmt: skip
    return Group(head, table, *(Text(line, "cyan") for line in status.cluster))


def _short(state: ProbeState, rates: Mapping[str, float]) -> str:
    rate = rates.get(state.probe)
    bits = [state.probe, f"{rate:,.0f}/s" if rate is not None else "-", f"ok {state.ok:,}"]
    if state.fail:
        bits.append(f"fail {state.fail:,}")
    if state.info:
        bits.append(f"maybe {state.info:,}")
    if state.lag is not None:
        bits.append(f"lag {state.lag:,}")
    if state.last_error:
        bits.append(state.last_error)
    if not state.running:
        bits.append("ended" if state.ended_well else "not started" if not state.begun else "NOT RUNNING")
    return " ".join(bits)
