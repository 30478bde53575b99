"""What a person sees while a run goes on: a live picture on a terminal, plain lines anywhere else."""

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
from chaosk.run.standing import Standing
from chaosk.run.timeline import Outlook
from chaosk.spec.contracts.live import ProbeState

LINE_EVERY = 5.0
"""Seconds between two plain status lines."""
SHOWN_FOR = 1.5 * LINE_EVERY
"""Seconds that an error is shown after it came, if no other one comes: each is on a plain line."""


@dataclass(frozen=True, slots=True)
class Status:
    """One look at a run under way."""

    phase: str
    elapsed: float
    """Seconds since the timeline began; negative before."""
    doing: str = ""
    """The timeline entries in place or under way."""
    coming: str | None = None
    """The entry that waits for its turn."""
    probes: tuple[ProbeState, ...] = ()
    rates: Mapping[str, float] = field(default_factory=dict)
    """Records per second by probe, over the last second or so."""
    cluster: tuple[str, ...] = ()
    """The watcher's lines: leaders, in-sync replicas, controller, ZooKeeper roles."""
    stands: bool = False
    """Whether the timeline stands still, because somebody is asked."""
    outlook: tuple[Outlook, ...] = ()
    """The entries of the timeline, each as it stands."""
    faults: tuple[Standing, ...] = ()
    """The faults that are not over."""

    @property
    def going_on(self) -> str:
        """What is in place or under way, with the faults that last beyond their entries; empty if nothing is."""
        entries = self.doing.split(", ") if self.doing else []
        return ", ".join(dict.fromkeys((*entries, *(fault.name for fault in self.faults))))


class Display(Protocol):
    """Where a run tells what it does."""

    def say(self, line: str) -> None:
        """One line that stays."""
        ...

    def show(self, status: Status) -> None:
        """The state of things; replaces the one before."""
        ...


class Rates:
    """Records per second of each probe between two looks at least half a second apart."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, int]] = {}
        self._rates: dict[str, float] = {}

    def of(self, states: tuple[ProbeState, ...], at: float | None = None) -> dict[str, float]:
        """The rate by probe; ``at`` is the time of the look in seconds, by default now."""
        moment = time.monotonic() if at is None else at
        for state in states:
            before = self._seen.get(state.probe)
            if before is None or state.ok < before[1]:
                self._seen[state.probe] = (moment, state.ok)
            elif moment - before[0] >= 0.5:
                self._rates[state.probe] = (state.ok - before[1]) / (moment - before[0])
                self._seen[state.probe] = (moment, state.ok)
        return dict(self._rates)


class Errors:
    """The last error of each probe, for as long as it meets any: one that is over is not shown until the run's end."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, tuple[int, int, int, str | None]]] = {}

    def of(self, states: tuple[ProbeState, ...], at: float | None = None) -> tuple[ProbeState, ...]:
        """The states, without errors that came more than ``SHOWN_FOR`` seconds before; ``at`` as for rates."""
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
    """Plain lines, for logs and pipes: what happens as it happens, and the state every few seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began = time.monotonic()
        self._last = 0.0

    def say(self, line: str) -> None:
        """One line with the seconds since the start before it."""
        self._console.print(
            f"{time.monotonic() - self._began:7.1f}s  {printable(line)}", markup=False, highlight=False, soft_wrap=True
        )

    def show(self, status: Status) -> None:
        """One line every few seconds."""
        moment = time.monotonic()
        if moment - self._last >= LINE_EVERY:
            self._last = moment
            probes = "  ".join(_short(state, status.rates) for state in status.probes)
            self.say(f"{status.phase}: {status.going_on or 'no fault in place'} | {probes}")


class TerminalDisplay:
    """A live picture below the lines that stay; use as a context manager."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, refresh_per_second=4, transient=True)
        self._plain = PlainDisplay(console)

    def __enter__(self) -> Self:
        """Start drawing."""
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Take the picture away; the lines stay."""
        self._live.stop()

    def say(self, line: str) -> None:
        """One line that stays above the picture."""
        self._plain.say(line)

    def show(self, status: Status) -> None:
        """Draw the picture anew."""
        self._live.update(picture(status))


def picture(status: Status) -> RenderableType:
    """The live picture: what is going on, what comes next, each probe, the cluster."""
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
