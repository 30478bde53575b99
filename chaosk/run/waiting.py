"""Waiting before and after the faults: for working probes, consumers that caught up, and a whole cluster.

``look`` is called repeatedly during a wait, to keep the display up to date.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from chaosk.core.errors import StepError
from chaosk.run.clock import wait_for
from chaosk.run.drain import Ends, behind, until_owned
from chaosk.run.probe_supervisor import ProbeSupervisor
from chaosk.spec.contracts.probe import Probe

WARM_WITHIN = 60.0
"""Seconds until every probe must have made progress."""
CATCH_UP_WITHIN = 30.0
"""Seconds that consumers may take to read the remaining records."""
TOLD_AFTER = 5.0
"""Seconds beyond a time-out in which a member learns of it."""
ASK_EVERY = 1.0
"""Seconds between two requests to the cluster for the ends of its logs."""
WHOLE_WITHIN = 120.0
"""Seconds that the cluster may take to be healthy again after all undos."""

Look = Callable[[], None]
Place = tuple[str, int]
"""Topic and partition."""


def warm_up(crew: ProbeSupervisor, probes: Mapping[str, Probe], look: Look, stop: threading.Event) -> None:
    """Start every probe that no step starts, and wait until all but standbys make progress.

    Probes that must always fail are not waited for. Raises StepError if a probe makes no progress, or dies.
    """
    for name, probe in probes.items():
        if probe.started_by == "run":
            crew.start(name)

    def ready() -> bool:
        look()
        return bool(crew.dead()) or not _idle(crew, probes)

    done = wait_for(ready, WARM_WITHIN, stop)
    if dead := crew.dead():
        words = "; ".join(end.last_words for end in crew.ends() if end.probe in dead)
        raise StepError(f"{', '.join(dead)}: died before the timeline began: {words}")
    if not done:
        idle = ", ".join(_idle(crew, probes))
        raise StepError(f"{idle}: made no progress within {WARM_WITHIN:g} s, before any fault")


def _idle(crew: ProbeSupervisor, probes: Mapping[str, Probe]) -> tuple[str, ...]:
    """Return the probes without progress, except those that must always fail and standbys."""
    hopeless = {name for name, probe in probes.items() if probe.must_fail is not None and probe.must_fail.always}
    states = (state for state in crew.states() if state.probe not in hopeless)
    return tuple(state.probe for state in states if state.ok == 0 and not state.standby)


def drain(
    crew: ProbeSupervisor,
    probes: Mapping[str, Probe],
    ends: Callable[[], Ends],
    look: Look,
    stop: threading.Event,
    say: Callable[[str], None],
) -> None:
    """End the producers, let the consumers catch up, end them; ``say`` which groups have unread records.

    While no member of a group owns some partition, the wait lasts for as long as its time-outs may explain that, since
    only then it is known to be a violation. ``ends`` requests the ends of all topics from the cluster. They no longer
    move, so it is called only now and then.
    """
    crew.end_all(tuple(name for name, probe in probes.items() if probe.writes))
    known, asked = ends(), time.monotonic()

    def caught_up() -> bool:
        nonlocal known, asked
        look()
        if not behind(probes, crew.states(), known):
            return True
        if time.monotonic() - asked >= ASK_EVERY:
            known, asked = ends(), time.monotonic()
        return False

    def all_owned() -> bool:
        return caught_up() or not until_owned(probes, crew.states(), known)

    done = wait_for(caught_up, CATCH_UP_WITHIN, stop)
    if not done and (without := until_owned(probes, crew.states(), known)):
        longest = max(without.values())
        names = ", ".join(without)
        say(f"{names}: no member owns some partition; waiting for up to {longest:g} s, which its time-outs may take")
        if wait_for(all_owned, max(0.0, longest + TOLD_AFTER - CATCH_UP_WITHIN), stop):
            done = wait_for(caught_up, CATCH_UP_WITHIN, stop)
    for group in () if done else behind(probes, crew.states(), known):
        say(f"{group}: not everything was read in time")
    crew.end_all(tuple(probes))


Held = Mapping[Place, int | None]
"""Last stable offsets below the high watermark; None for a partition whose leader does not answer."""


def settle_longer(held: Callable[[], Held | None], within: float, look: Look, stop: threading.Event) -> bool:
    """Wait until every last stable offset below its high watermark has moved; return True if all did in time.

    ``held`` requests those offsets from the cluster; None: it does not answer, so nothing is known to have moved. An
    open transaction holds one briefly, a hanging one forever. Only after the longest possible time of a transaction,
    ``within`` seconds, is one known to hang.
    """
    waiting, asked = held(), time.monotonic()

    def moved() -> bool:
        nonlocal waiting, asked
        look()
        if waiting != {} and time.monotonic() - asked >= ASK_EVERY:
            now, asked = held(), time.monotonic()
            waiting = waiting if now is None else now if waiting is None else _unmoved(waiting, now)
        return waiting == {}

    return wait_for(moved, within, stop)


def _unmoved(before: Held, now: Held) -> Held:
    """Return those that still stand, or are not known to have moved."""
    return {
        place: now[place] if offset is None else offset
        for place, offset in before.items()
        if place in now and (offset is None or now[place] in (None, offset))
    }


def become_whole(unhealthy: Callable[[], tuple[str, ...]], look: Look, stop: threading.Event) -> tuple[str, ...]:
    """Wait until the cluster has the health that preflight demands; return the remaining problems.

    Undoing a cut, for example, does not bring back a server that gave up.
    """
    problems: tuple[str, ...] = ()

    def healthy() -> bool:
        nonlocal problems
        look()
        problems = unhealthy()
        return not problems

    if wait_for(healthy, WHOLE_WITHIN, stop):
        return ()
    return tuple(f"the cluster is not as it was: {problem}" for problem in problems)
