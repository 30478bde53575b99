"""What a run waits for before and after its faults: probes at work, consumers caught up, a cluster that is whole again.

``look`` is called again and again meanwhile, so that the display lives.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from chaosk.core.errors import StepError
from chaosk.run.clock import wait_for
from chaosk.run.crew import Crew
from chaosk.run.drain import behind
from chaosk.spec.contracts.probe import Probe

WARM_WITHIN = 60.0
"""Seconds until every probe must have made progress."""
CATCH_UP_WITHIN = 30.0
"""Seconds that consumers may take to read what was written."""
ASK_EVERY = 1.0
"""Seconds between two questions to the cluster how much there is to read."""
WHOLE_WITHIN = 120.0
"""Seconds that the cluster may take to be healthy again once everything is undone."""

Look = Callable[[], None]
Place = tuple[str, int]
"""Topic and partition."""


def warm_up(crew: Crew, probes: Mapping[str, Probe], look: Look, stop: threading.Event) -> None:
    """Start every probe that no step is to start, and wait until all but standbys make progress.

    Those that must always fail are not waited for. Raises StepError if one does not, or dies.
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


def _idle(crew: Crew, probes: Mapping[str, Probe]) -> tuple[str, ...]:
    """The probes that have made no progress, and are to make some."""
    hopeless = {name for name, probe in probes.items() if probe.must_fail is not None and probe.must_fail.always}
    states = (state for state in crew.states() if state.probe not in hopeless)
    return tuple(state.probe for state in states if state.ok == 0 and not state.standby)


def drain(
    crew: Crew, probes: Mapping[str, Probe], ends: Callable[[], Mapping[str, int]], look: Look, stop: threading.Event
) -> tuple[str, ...]:
    """End the producers, let the consumers catch up, end them; the groups that have not read everything in time.

    ``ends`` asks the cluster for the ends of all topics. Nobody moves them any more: it is asked again at times only.
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

    late = () if wait_for(caught_up, CATCH_UP_WITHIN, stop) else behind(probes, crew.states(), known)
    crew.end_all(tuple(probes))
    return late


def settle_longer(held: Callable[[], Mapping[Place, int]], within: float, look: Look, stop: threading.Event) -> bool:
    """Wait until every last stable offset that stands below its high watermark has moved; whether they did in time.

    ``held`` asks the cluster for those that do. A transaction that is under way holds one for a moment; one that hangs
    for ever, and that can only be said when it has had the time that it may take: so long is ``within``, in seconds.
    """
    waiting, asked = dict(held()), time.monotonic()

    def moved() -> bool:
        nonlocal waiting, asked
        look()
        if waiting and time.monotonic() - asked >= ASK_EVERY:
            now, asked = held(), time.monotonic()
            waiting = {place: offset for place, offset in waiting.items() if now.get(place) == offset}
        return not waiting

    return wait_for(moved, within, stop)


def become_whole(unhealthy: Callable[[], tuple[str, ...]], look: Look, stop: threading.Event) -> tuple[str, ...]:
    """Wait for the health that preflight demands, as undoing a cut does not bring back who gave up; what is wrong."""
    problems: tuple[str, ...] = ()

    def healthy() -> bool:
        nonlocal problems
        look()
        problems = unhealthy()
        return not problems

    if wait_for(healthy, WHOLE_WITHIN, stop):
        return ()
    return tuple(f"the cluster is not as it was: {problem}" for problem in problems)
