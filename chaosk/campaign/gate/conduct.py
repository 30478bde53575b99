"""Executing attempts in one lane or several: recording each result, and stopping early."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from chaosk.campaign.gate.attempts import ended
from chaosk.campaign.gate.child import Ended
from chaosk.campaign.gate.lanes import Lane, begun, lanes_of, leaving, left, next_place, over
from chaosk.campaign.gate.record import Attempt, Gate, save
from chaosk.core.errors import ExitCode


@dataclass(frozen=True, slots=True)
class GateHooks:
    """Operations on attempts; each lane calls them from its own thread."""

    run: Callable[[Attempt, Lane], Ended]
    """Runs one attempt in a lane."""
    leave: Callable[[str], None]
    """Takes down a lab that no further attempt uses, by name."""
    say: Callable[[str], None]


def conduct(gate: Gate, folder: Path, hands: GateHooks, stop: threading.Event) -> Gate:
    """Run all open attempts, in as many lanes as the gate has; return the gate with their results.

    ``gate.json`` in ``folder`` is rewritten after each. No further attempt starts once ``stop`` is set, once a cluster
    could not be healed, or, without ``keep_going``, after the first attempt that does not pass. Runs in other lanes
    then continue to their end, unless ``stop`` is set. A lane takes its lab down before it needs another one.
    """
    gate = gate.model_copy(update={"why_ended": None})
    save(folder, gate)
    return _Conduct(gate, folder, hands, stop).to_its_end()


class _Conduct:
    """A running gate. Everything but the runs themselves happens in the thread that called ``conduct``."""

    def __init__(self, gate: Gate, folder: Path, hands: GateHooks, stop: threading.Event) -> None:
        self._gate, self._folder, self._hands, self._stop = gate, folder, hands, stop
        self._lanes = lanes_of(gate)
        self._under_way: dict[Future[Ended | None], int] = {}
        self._why: str | None = None
        self._since = time.monotonic() - (gate.seconds or 0.0)

    def to_its_end(self) -> Gate:
        with ThreadPoolExecutor(len(self._lanes), "lane") as pool:
            try:
                self._begin(pool)
                while self._under_way:
                    ready, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
                    for one in ready:
                        self._end(self._under_way.pop(one), one.result())
                    self._begin(pool)
            except BaseException:
                self._stop.set()  # running attempts end and heal: the pool's exit waits for them
                raise
        if self._why is not None and any(one.state != "done" for one in self._gate.attempts):
            self._keep(why_ended=self._why)
        return self._gate

    def _begin(self, pool: ThreadPoolExecutor) -> None:
        """Start the next attempt in every free lane, if there is one."""
        if self._stop.is_set() and self._why is None and left(self._lanes, self._gate.attempts):
            self._why = "it was interrupted"
        for number in [lane.number for lane in self._lanes]:
            lane = self._lane(number)
            if self._why is not None or len(self._under_way) == self._gate.side_by_side:
                return
            if (place := next_place(lane, self._lanes, self._gate.attempts)) is not None:
                attempt = self._gate.attempts[place]
                labs = leaving(lane, self._lanes, attempt)
                self._lanes = begun(self._lanes, number, place, attempt)
                self._under_way[pool.submit(self._job, lane, place, labs)] = number

    def _lane(self, number: int) -> Lane:
        return next(lane for lane in self._lanes if lane.number == number)

    def _job(self, lane: Lane, place: int, labs: list[str]) -> Ended | None:
        """Take down these labs and run an attempt, in the lane's thread; None if the gate was stopped before it."""
        attempt = self._gate.attempts[place]
        for lab in labs:
            self._hands.leave(lab)
        if self._stop.is_set():
            return None
        which = f"{attempt.scenario}{_which(attempt, self._gate)}"
        self._say(lane, f"{place + 1} of {len(self._gate.attempts)}: {which}")
        return self._hands.run(attempt, lane)

    def _end(self, number: int, told: Ended | None) -> None:
        lane = self._lane(number)
        place = lane.at or 0
        refused = told is not None and told.exit_code == ExitCode.PREFLIGHT
        before = self._lanes
        self._lanes, counts = over(before, number, refused=refused)
        attempt = self._gate.attempts[place]
        if told is None:
            return
        if not counts:
            self._say(lane, f"{attempt.scenario} was refused; another cluster is asked: {told.said}")
            return
        done = ended(attempt, self._folder, told.exit_code, told.seconds, told.said)
        done = done.model_copy(update={"lane": number if len(self._lanes) > 1 else None})
        repeated = done.stood_still and len(done.again_after) < self._gate.again
        kept = attempt.model_copy(update={"again_after": (*attempt.again_after, done.folder)}) if repeated else done
        self._keep(attempts=(*self._gate.attempts[:place], kept, *self._gate.attempts[place + 1 :]))
        self._tell(lane, done)
        if repeated:
            self._say(lane, f"{done.scenario} is run again: chaosk's machine stalled, so its result is inconclusive")
            return
        for old, new in zip(before, self._lanes, strict=True):
            if new.out and not old.out and done.state == "done":
                self._say(new, f"is given no more runs: it refused {done.scenario}, which another cluster ran")
        why = _why_end(done, self._gate)
        if why is not None and (self._why is None or done.exit_code == ExitCode.NOT_HEALED):
            self._why = why

    def _keep(self, **changes: object) -> None:
        """Change the gate, also on disk."""
        seconds = round(time.monotonic() - self._since, 1)
        self._gate = self._gate.model_copy(update={**changes, "seconds": seconds})
        save(self._folder, self._gate)

    def _tell(self, lane: Lane, done: Attempt) -> None:
        """Print the result of an attempt if there are several lanes; with one lane its run has just printed it."""
        if len(self._lanes) > 1:
            count = sum(one.state == "done" for one in self._gate.attempts)
            which = f"{done.scenario}{_which(done, self._gate)}"
            said = done.said or f"ended with {done.exit_code}"
            self._say(lane, f"{which}: {said} ({done.seconds:.0f} s); {count} of {len(self._gate.attempts)} done")

    def _say(self, lane: Lane, line: str) -> None:
        self._hands.say(lane.label + line if len(self._lanes) > 1 else line)


def _why_end(done: Attempt, gate: Gate) -> str | None:
    """Return the reason to start no further attempt; None to go on."""
    if done.state == "broken off":
        return "it was interrupted"
    if done.exit_code == ExitCode.NOT_HEALED:
        return f"{done.scenario} left the cluster unhealed"
    if done.exit_code != ExitCode.PASS and not gate.keep_going:
        return f"{done.scenario} did not pass, and it was not to keep going"
    return None


def _which(attempt: Attempt, gate: Gate) -> str:
    repeats = max(one.repeat for one in gate.attempts)
    return f" (run {attempt.repeat} of {repeats})" if repeats > 1 else ""
