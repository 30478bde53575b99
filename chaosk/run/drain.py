"""Whether the consumers have read what was written: not by their own word alone.

A consumer's lag is that of its last fetch: while it is cut off, or waits to connect again, it believes to be at the
end. How many records it was given says little, too: some are given twice, and some are not in the log any more. So a
group is done when the places up to which its members have read are the ends of all partitions, as their leaders tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Probe


def behind(probes: Mapping[str, Probe], states: Iterable[ProbeState], ends: Mapping[str, int]) -> tuple[str, ...]:
    """Groups (or probes without one) that still have something to read, or may have.

    ``ends``: by topic the sum of the ends of its partitions, where they are known. A group of which no probe runs is
    not waited for, nor are probes that must fail to the end.
    """
    by_name = {state.probe: state for state in states}
    groups: dict[str, list[str]] = {}
    for name, probe in probes.items():
        if probe.must_fail is not None and probe.must_fail.until is None:
            continue
        if probe.topics() and not probe.writes and name in by_name and by_name[name].running:
            groups.setdefault(next(iter(probe.groups()), name), []).append(name)
    return tuple(
        group
        for group, members in groups.items()
        if not _at_the_end(
            [by_name[name] for name in members], {topic for name in members for topic in probes[name].reads()}, ends
        )
    )


def _at_the_end(members: list[ProbeState], topics: set[str], ends: Mapping[str, int]) -> bool:
    """Who holds no partition has no lag, and has reached nothing."""
    if not topics <= ends.keys() or any(state.lag for state in members):
        return False
    return sum(state.reached or 0 for state in members) >= sum(ends[topic] for topic in topics)
