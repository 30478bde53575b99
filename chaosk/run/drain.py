"""Whether the consumers have read what was written: not by their own word alone.

A consumer's lag is that of its last fetch: while it is cut off, or waits to connect again, it believes to be at the
end. So what a group was given is held against what the producers got acknowledged, for as long as there is hope: what
was acknowledged and is not in the log any more will never come. Who was started again was given less than that; it is
done when the places up to which its group has read are the ends of all partitions, as their leaders tell them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from chaosk.audit.ranges import Extent
from chaosk.cluster.live import ProbeState
from chaosk.probes._contract import Probe


def behind(
    probes: Mapping[str, Probe], states: Iterable[ProbeState], logs: Mapping[str, Extent] = MappingProxyType({})
) -> tuple[str, ...]:
    """Groups (or probes without one) that still have something to read, as far as counts can tell.

    ``logs``: by topic, how far its log goes, where that is known. A group of which no probe
    runs is not waited for; one that started at the end of a topic may be named although it has read all it ever will.
    """
    by_name = {state.probe: state for state in states}
    written: dict[str, int] = {}
    for name, probe in probes.items():
        if probe.writes and name in by_name:
            for topic in probe.topics():
                written[topic] = written.get(topic, 0) + by_name[name].ok
    written = {topic: min(count, logs[topic].records) if topic in logs else count for topic, count in written.items()}
    groups: dict[str, list[str]] = {}
    for name, probe in probes.items():
        if probe.topics() and not probe.writes and name in by_name:
            groups.setdefault(next(iter(probe.groups()), name), []).append(name)
    return tuple(
        group
        for group, members in groups.items()
        if any(by_name[name].running for name in members)
        and _lacks(members, probes, by_name, written)
        and not _at_the_end(members, probes, by_name, logs)
    )


def _lacks(
    members: list[str], probes: Mapping[str, Probe], states: Mapping[str, ProbeState], written: Mapping[str, int]
) -> bool:
    if any(states[name].running and states[name].lag != 0 for name in members):
        return True
    topics = {topic for name in members for topic in probes[name].reads()}
    return sum(states[name].ok for name in members) < sum(written.get(topic, 0) for topic in topics)


def _at_the_end(
    members: list[str], probes: Mapping[str, Probe], states: Mapping[str, ProbeState], logs: Mapping[str, Extent]
) -> bool:
    topics = {topic for name in members for topic in probes[name].reads()}
    running = [states[name] for name in members if states[name].running]
    if not topics <= logs.keys() or any(state.reached is None or state.lag != 0 for state in running):
        return False
    return sum(state.reached or 0 for state in running) >= sum(logs[topic].end for topic in topics)
