"""The start of each entry of the timeline: at a time, after another entry, on a condition, or in turn.

One thread starts the entries that are due, each in a thread of its own, so faults may overlap; they share only the
marks below. The first entry that fails breaks the timeline off, since later faults would be evidence of something
else. A skipped entry does not: entries that wait for its effect or its end are skipped with it, and entries that only
follow it start in their turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from chaosk.core.errors import ChaoskError, StepError
from chaosk.run.approval import Skipped
from chaosk.run.clock import TICK, Interrupted, now, sleep_until
from chaosk.run.timeline_clock import TimelineClock
from chaosk.rundir.record import EntryEnd
from chaosk.spec.contracts.condition import Answer
from chaosk.spec.scenario import Entry

Mark = Literal["applied", "healed", "done"]


class Actor(Protocol):
    """Executes entries."""

    def start(self, entry: Entry, stop: threading.Event) -> Callable[[], None]:
        """Inject the entry's fault and verify it; return the function that ends it. Raises StepError, Interrupted."""
        ...

    def asks(self, condition: str) -> Callable[[], Answer]:
        """Return a function that evaluates a condition repeatedly; a counting condition counts from now on."""
        ...


@dataclass(frozen=True, slots=True)
class Outlook:
    """The state of one entry."""

    entry: str
    kind: str
    state: str
    """``waits``, ``in place``, ``done``, ``failed`` or ``skipped``."""
    seconds: float | None
    """Until it is due, or until it is undone; None if unknown. Negative: it waits for a condition."""


class Timeline:
    """The entries of one run."""

    def __init__(
        self, entries: tuple[Entry, ...], actor: Actor, stop: threading.Event, pace: TimelineClock | None = None
    ) -> None:
        """``pace``: the clock by which entries start; by default this machine's."""
        self._pace = pace or TimelineClock()
        self._entries = entries
        self._actor = actor
        self._stop = stop
        self._broken = threading.Event()
        self._marks: dict[str, dict[Mark, int]] = {entry.name: {} for entry in entries}
        """When each entry reached its marks, by the timeline's clock."""
        self._marked = threading.Event()
        self._ends: dict[str, EntryEnd] = {}
        self._passed: set[str] = set()
        self._until: dict[str, int] = {}

    def run(self, begin: int, until: Callable[[], None]) -> None:
        """Execute the timeline from ``begin`` (monotonic nanoseconds); calls ``until`` repeatedly.

        Returns when every entry is done or the timeline is broken off; faults without a duration are then still in
        place. Raises Interrupted if the run is to stop, after every thread has ended.
        """
        starts = threading.Thread(target=self._start_all, args=(begin,), name="timeline")
        starts.start()
        try:
            while starts.is_alive():
                until()
                starts.join(0.2)
        finally:
            starts.join()
        if self._stop.is_set():
            raise Interrupted("the run was told to stop")

    def ends(self) -> tuple[EntryEnd, ...]:
        """Return the outcome of each entry, in order."""
        skipped = "the timeline was broken off before its turn"
        return tuple(
            self._ends.get(entry.name, EntryEnd(entry=entry.name, status="skipped", why=skipped))
            for entry in self._entries
        )

    def current(self) -> tuple[str, str | None]:
        """Return the entries in place or in progress, and the next one, for the live display."""
        begun = [e.name for e in self._entries if self._marks[e.name] and e.name not in self._ends]
        waiting = [e.name for e in self._entries if not self._marks[e.name] and e.name not in self._ends]
        return ", ".join(begun), waiting[0] if waiting else None

    def outlook(self, begin: int) -> tuple[Outlook, ...]:
        """Return the state of each entry, in order; ``begin`` as given to :meth:`run`."""
        return tuple(self._outlook(number, begin) for number in range(len(self._entries)))

    def _outlook(self, number: int, begin: int) -> Outlook:
        entry = self._entries[number]
        marks, end = self._marks[entry.name], self._ends.get(entry.name)
        if end is not None:
            return Outlook(entry.name, entry.kind, end.status, None)
        if marks:
            until = self._until.get(entry.name)
            return Outlook(entry.name, entry.kind, "in place", None if until is None else (until - now()) / 1e9)
        start = self._due(number, begin)
        return Outlook(entry.name, entry.kind, "waits", None if start is None else (start - self._pace.now()) / 1e9)

    def _due(self, number: int, begin: int) -> int | None:
        """Return the time at which an entry is due by the timeline's clock, if known; a condition may delay it."""
        entry = self._entries[number]
        if entry.at is not None:
            return begin + int(entry.at * 1e9)
        if entry.after is not None:
            mark = self._marks[entry.after.entry].get(entry.after.is_)
            return None if mark is None else mark + int(entry.after.delay * 1e9)
        return self._marks[self._entries[number - 1].name].get("done") if number else begin

    def _start_all(self, begin: int) -> None:
        """Start each entry in a thread when it is due; returns when all have ended, or those begun after a stop."""
        halt, waiting, begun = _Either(self._stop, self._broken), list(range(len(self._entries))), []
        while waiting and not halt.is_set():
            self._marked.clear()
            for number in [number for number in waiting if self._wait(number, begin) == 0]:
                waiting.remove(number)
                begun.append(threading.Thread(target=self._live, args=(number, halt), name=self._entries[number].name))
                try:
                    begun[-1].start()
                except RuntimeError as error:  # no more threads
                    self._fail(self._entries[number], f"cannot be started: {error}")
                    begun.pop()
                    break
            self._marked.wait(min((self._wait(number, begin) for number in waiting), default=0.0))
        for thread in begun:
            thread.join()

    def _wait(self, number: int, begin: int) -> float:
        """Return the seconds until an entry is due, a tick at most; 0 too if what it waits for never happened."""
        after = self._entries[number].after
        over = after is not None and "done" in self._marks[after.entry]  # looked up first: no mark follows it
        due = self._due(number, begin)
        if due is None:
            return 0.0 if over else TICK
        return TICK if self._pace.stands else min(max((due - self._pace.now()) / 1e9, 0.0), TICK)

    def _live(self, number: int, halt: threading.Event) -> None:
        entry = self._entries[number]
        try:
            self._check_trigger(entry)
            if entry.when is not None:
                self._await_condition(entry.name, entry.when, entry.timeout, halt)
            finish = self._actor.start(entry, halt)
            self._mark(entry, "applied")
            if entry.lasts is not None:
                self._until[entry.name] = now() + int(entry.lasts * 1e9)
                try:
                    sleep_until(self._until[entry.name], halt)
                finally:
                    finish()
                self._mark(entry, "healed")
            self._ends[entry.name] = EntryEnd(entry=entry.name, status="done")
        except Interrupted:
            why = "the timeline was broken off"
            self._ends[entry.name] = EntryEnd(entry=entry.name, status="skipped", why=why)
        except Skipped as skipped:
            self._passed.add(entry.name)
            self._ends[entry.name] = EntryEnd(entry=entry.name, status="skipped", why=str(skipped))
        except ChaoskError as error:
            self._fail(entry, str(error))
        except Exception as error:  # noqa: BLE001 - a defect in a step, like a plugin's, must end the timeline
            self._fail(entry, f"a defect in {entry.kind}: {type(error).__name__}: {error}")
        finally:
            self._mark(entry, "done")

    def _fail(self, entry: Entry, why: str) -> None:
        self._ends[entry.name] = EntryEnd(entry=entry.name, status="failed", why=why)
        self._broken.set()

    def _mark(self, entry: Entry, mark: Mark) -> None:
        self._marks[entry.name].setdefault(mark, self._pace.now())
        self._marked.set()

    def _check_trigger(self, entry: Entry) -> None:
        """Raise Skipped or StepError if the entry that this one waits for ended without the mark."""
        if entry.after is None or entry.after.is_ in self._marks[entry.after.entry]:
            return
        if entry.after.entry in self._passed:
            raise Skipped(f"it was to start once {entry.after.entry} is {entry.after.is_}, and that was skipped")
        raise StepError(f"waits for {entry.after.entry} to be {entry.after.is_}, which never happened")

    def _await_condition(self, name: str, condition: str, timeout: float, halt: threading.Event) -> None:
        ask, last = self._actor.asks(condition), Answer(holds=False, seen="not asked")

        def holds() -> bool:
            nonlocal last
            last = ask()
            return last.holds

        if not self._pace.wait_for(holds, timeout, halt):
            raise StepError(f"{name}: `{condition}` did not come true within {timeout:g} s: {last.seen}")


class _Either(threading.Event):
    """An event that is set when either of two others is; waiting polls both ten times a second."""

    def __init__(self, *events: threading.Event) -> None:
        super().__init__()
        self._events = events

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._events)

    def wait(self, timeout: float | None = None) -> bool:
        end = None if timeout is None else now() + int(timeout * 1e9)
        while not self.is_set():
            left = 0.1 if end is None else min(0.1, (end - now()) / 1e9)
            if left <= 0:
                return False
            self._events[0].wait(left)
        return True
