"""What a run waits for before and after its faults: probes at work, consumers caught up, a cluster that is whole again.

``look`` is called again and again meanwhile, so that the display lives.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from chaosk.audit.ranges import Extent
from chaosk.errors import StepError
from chaosk.probes._contract import Probe
from chaosk.run.clock import wait_for
from chaosk.run.crew import Crew
from chaosk.run.drain import behind

WARM_WITHIN = 60.0
"""Seconds until every probe must have made progress."""
CATCH_UP_WITHIN = 30.0
"""Seconds that consumers may take to read what was written."""
ASK_EVERY = 1.0
"""Seconds between two questions to the cluster how much there is to read."""
WHOLE_WITHIN = 120.0
"""Seconds that the cluster may take to be healthy again once everything is undone."""

Look = Callable[[], None]


def warm_up(crew: Crew, probes: Mapping[str, Probe], look: Look, stop: threading.Event) -> None:
    """Start every probe and wait until all but standbys make progress; raises StepError if one does not, or dies."""
    for probe in probes:
        crew.start(probe)

    def ready() -> bool:
        look()
        return bool(crew.dead()) or all(state.ok > 0 or state.standby for state in crew.states())

    done = wait_for(ready, WARM_WITHIN, stop)
    if dead := crew.dead():
        words = "; ".join(end.last_words for end in crew.ends() if end.probe in dead)
        raise StepError(f"{', '.join(dead)}: died before the timeline began: {words}")
    if not done:
        idle = ", ".join(state.probe for state in crew.states() if state.ok == 0 and not state.standby)
        raise StepError(f"{idle}: made no progress within {WARM_WITHIN:g} s, before any fault")


def drain(
    crew: Crew, probes: Mapping[str, Probe], logs: Callable[[], Mapping[str, Extent]], look: Look, stop: threading.Event
) -> tuple[str, ...]:
    """End the producers, let the consumers catch up, end them; the groups that have not read everything in time.

    ``logs`` asks the cluster how far each topic's log goes; it is asked where somebody seems to lack records.
    """
    crew.end_all(tuple(name for name, probe in probes.items() if probe.writes))
    asked = 0.0

    def caught_up() -> bool:
        nonlocal asked
        look()
        states = crew.states()
        if not behind(probes, states):
            return True
        if time.monotonic() - asked < ASK_EVERY:
            return False
        asked = time.monotonic()
        return not behind(probes, states, logs())

    late = () if wait_for(caught_up, CATCH_UP_WITHIN, stop) else behind(probes, crew.states(), logs())
    crew.end_all(tuple(probes))
    return late


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
