"""One attempt after the other: what is recorded after each, and when the rest is not run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chaosk.errors import ExitCode
from chaosk.release.attempts import ended
from chaosk.release.child import Ended
from chaosk.release.record import Attempt, Gate, save


@dataclass(frozen=True, slots=True)
class Hands:
    """What is done about attempts."""

    run: Callable[[Attempt], Ended]
    """Run one."""
    leave: Callable[[str], None]
    """A lab that no attempt to come is run on, by name."""
    say: Callable[[str], None]


def conduct(gate: Gate, folder: Path, hands: Hands, stop: threading.Event) -> Gate:
    """Run what is not done yet, the repeats of a scenario next to each other; the gate with all that became of it.

    ``gate.json`` in ``folder`` is written anew after each. It ends early when ``stop`` is set, when a cluster could
    not be healed, and, unless it is to keep going, with the first attempt that does not pass. A lab is left before
    another one is needed: two of them side by side would be in each other's way.
    """
    gate = gate.model_copy(update={"why_ended": None})
    save(folder, gate)
    on: str | None = None
    for place, attempt in enumerate(gate.attempts):
        if attempt.state == "done":
            continue
        if stop.is_set():
            return _over(gate, folder, "it was interrupted")
        if on is not None and attempt.lab != on:
            hands.leave(on)
        on = attempt.lab
        hands.say(f"{place + 1} of {len(gate.attempts)}: {attempt.scenario}{_which(attempt, gate)}")
        told = hands.run(attempt)
        done = ended(attempt, folder, told.exit_code, told.seconds, told.said)
        attempts = (*gate.attempts[:place], done, *gate.attempts[place + 1 :])
        gate = gate.model_copy(update={"attempts": attempts})
        save(folder, gate)
        if why := _why_end(done, gate, place):
            return _over(gate, folder, why)
    return gate


def _over(gate: Gate, folder: Path, why: str) -> Gate:
    gate = gate.model_copy(update={"why_ended": why})
    save(folder, gate)
    return gate


def _which(attempt: Attempt, gate: Gate) -> str:
    repeats = max(one.repeat for one in gate.attempts)
    return f" (run {attempt.repeat} of {repeats})" if repeats > 1 else ""


def _why_end(done: Attempt, gate: Gate, place: int) -> str | None:
    """Why nothing more is run; None if it goes on, or if this was the last."""
    if done.state == "broken off":
        return "it was interrupted"
    if all(one.state == "done" for one in gate.attempts[place + 1 :]):
        return None
    if done.exit_code == ExitCode.NOT_HEALED:
        return f"{done.scenario} left the cluster unhealed"
    if done.exit_code != ExitCode.PASS and not gate.keep_going:
        return f"{done.scenario} did not pass, and it was not to keep going"
    return None
