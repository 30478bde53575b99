"""Test for consumers with unread records, which does not rely on their own word alone.

A consumer's lag is that of its last fetch: while it is cut off, or waits to reconnect, it believes to be at the end.
The number of delivered records is no proof either: some are delivered twice, and some are no longer in the log. So a
group is done when the positions of its members have reached the ends of all partitions, as their leaders report them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Probe
from chaosk.spec.group_timeouts import patience

Ends = Mapping[str, Sequence[int]]
"""The ends of all partitions by topic, as their leaders report them; topics with an uncertain one are left out."""


def behind(probes: Mapping[str, Probe], states: Iterable[ProbeState], ends: Ends) -> tuple[str, ...]:
    """Return the groups (or probes without one) that still have records to read, or may have.

    A group without a running probe is not waited for, nor are probes that must fail to the end.
    """
    by_name = {state.probe: state for state in states}
    return tuple(
        group
        for group, members in _groups(probes, by_name).items()
        if not _at_the_end([by_name[name] for name in members], _topics(probes, members), ends)
    )


def until_owned(probes: Mapping[str, Probe], states: Iterable[ProbeState], ends: Ends) -> dict[str, float]:
    """Map each group of which no member owns some partition to the seconds that its time-outs may take to end that.

    Rule A5 can decide about such a partition only after that time.
    """
    by_name = {state.probe: state for state in states}
    found = {}
    for group, members in _groups(probes, by_name).items():
        settings = [probes[name].membership() for name in members]
        subscribed = [config for config in settings if config is not None]
        owned, topics = [by_name[name].owned for name in members], _topics(probes, members)
        if len(subscribed) < len(members) or None in owned or not topics <= ends.keys():
            continue
        if sum(count or 0 for count in owned) < sum(len(ends[topic]) for topic in topics):
            found[group] = patience(subscribed) / 1_000
    return found


def _groups(probes: Mapping[str, Probe], states: Mapping[str, ProbeState]) -> dict[str, list[str]]:
    """Map each group, or probe without one, to those of its running probes that need not fail to the end."""
    groups: dict[str, list[str]] = {}
    for name, probe in probes.items():
        if probe.must_fail is not None and probe.must_fail.until is None:
            continue
        if probe.topics() and not probe.writes and name in states and states[name].running:
            groups.setdefault(next(iter(probe.groups()), name), []).append(name)
    return groups


def _topics(probes: Mapping[str, Probe], members: Iterable[str]) -> set[str]:
    return {topic for name in members for topic in probes[name].reads()}


def _at_the_end(members: list[ProbeState], topics: set[str], ends: Ends) -> bool:
    """Return True if the members have reached the ends; a member without partitions has no lag, and reached nothing."""
    if not topics <= ends.keys() or any(state.lag for state in members):
        return False
    return sum(state.reached or 0 for state in members) >= sum(end for topic in topics for end in ends[topic])
