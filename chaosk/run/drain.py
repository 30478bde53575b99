"""Test for consumers with unread records, which does not rely on their own word alone.

A consumer's lag is that of its last fetch: while it is cut off, or waits to reconnect, it believes to be at the end.
The number of delivered records is no proof either: some are delivered twice, and some are no longer in the log. So a
group is done when the positions of its members have reached the ends of all partitions, as their leaders report them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Probe


def behind(probes: Mapping[str, Probe], states: Iterable[ProbeState], ends: Mapping[str, int]) -> tuple[str, ...]:
    """Return the groups (or probes without one) that still have records to read, or may have.

    ``ends``: the sum of the ends of all partitions by topic, if known. A group without a running probe is not waited
    for, nor are probes that must fail to the end.
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
    """Return True if the members have reached the ends; a member without partitions has no lag, and reached nothing."""
    if not topics <= ends.keys() or any(state.lag for state in members):
        return False
    return sum(state.reached or 0 for state in members) >= sum(ends[topic] for topic in topics)
