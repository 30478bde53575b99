"""Changes of leaders, partitions away from their preferred leader, and the return of leadership."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.case import Case, TimeSpan
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.intervals import Interval, common, without
from chaosk.analysis.metadata_spans import MetadataSpan
from chaosk.analysis.partition_history import PartitionHistory, described
from chaosk.analysis.recovery_times import HOLD
from chaosk.rundir.verdict import Measure


class Leadership(Check):
    """Changes of partition leaders, partitions not led by their preferred leader, and time until all were again.

    D6, from the watcher's samples, so accurate to one sampling interval on either side. At each time, the metadata with
    the newest leader epoch that any broker has named so far counts. The *preferred* leader is the first assigned
    replica.

    A *change* is a new epoch with another leader than the last epoch that had one, at the time when a broker first
    names it. A partition that loses its leader and gets the same one back has none. In a window without a fault (the
    baseline, ``after_heal``, a wait) a change counts only if the first broker to name it reported another leader
    earlier in the window: news in the first answers may be older than the window, and other brokers learn of it later.
    *Displaced* is a partition that at the end of the window was led by another replica than the preferred one, or by
    none. Leadership has *returned* at the first time after a fault's verified undo from which every partition of the
    scenario's topics was led by its preferred leader for three seconds. If that did not happen before the run ended, it
    is censored.

    A partition was *leaderless* while some broker named no leader for it and none named one. The whole stretch counts
    in each window that it overlaps, and is censored if it lasted until the end of the run. A dead leader that is still
    named counts as a leader here; ``election`` measures that time. A window in which no broker described the topic for
    five seconds has no figure.
    """

    rule = "D6"
    title = "who leads partitions"
    counted = ("change of leader", "changes of leader")
    metrics = ("leader_changes", "displaced_leaders", "leaderless_time", "leadership_return")
    tables = ("partitions",)

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``leadership_return`` of each fault, and the other figures of each topic and window."""
        case, said = events.case, events.once(described)
        acted = {fault.name for fault in case.faults}
        for topic in sorted(case.topics):
            for window in case.windows:
                yield from _figures(said, topic, window, case.run.ended, of_fault=window.name in acted)
        home = _home(case, said) if case.faults else []
        for fault in case.faults:
            yield _return(case, said, fault.name, fault.healed, home)


def _figures(said: PartitionHistory, topic: str, window: TimeSpan, until: int, *, of_fault: bool) -> Iterable[Measure]:
    known, places = said.watched(topic, window), said.places(topic)
    changes = [each for place in places for each in said.changes(place) if window.began <= each[1] < window.ended]
    inside = sum(of_fault or since >= window.began for since, _ in changes)
    yield measured("leader_changes", topic, window.name, float(inside) if known else None)
    ends = [said.at(place, window.ended) for place in places]
    displaced = sum(one is not None and not _led_by_preferred(one) for one in ends)
    yield measured("displaced_leaders", topic, window.name, float(displaced) if known else None)
    stretches = [one for place in places for one in _leaderless(said, place) if one[0] < until]
    mine = [(a, b) for a, b in stretches if a <= window.ended and window.began <= b]
    longest = max((min(b, until) - a for a, b in mine), default=0) / 1e9 if known else None
    open_end = known and any(b >= until for _, b in mine)
    yield measured("leaderless_time", topic, window.name, longest, censored=open_end)


def _leaderless(said: PartitionHistory, place: tuple[str, int]) -> list[Interval]:
    return without(said.when(place, lambda one: one.leader < 0), said.when(place, lambda one: one.leader >= 0))


def _led_by_preferred(one: MetadataSpan) -> bool:
    return one.leader >= 0 and one.leader == one.preferred


def _home(case: Case, said: PartitionHistory) -> list[Interval]:
    """Return the intervals in which every partition of the scenario's topics was led by its preferred leader."""
    places = [(topic, number) for topic, shape in case.topics.items() for number in range(shape.partitions)]
    home = said.when(places[0], _led_by_preferred) if places else []
    for place in places[1:]:
        home = common(home, said.when(place, _led_by_preferred))
    return home


def _return(case: Case, said: PartitionHistory, fault: str, since: int | None, home: list[Interval]) -> Measure:
    ended = case.run.ended
    back = [max(a, since) for a, b in home if since is not None and min(b, ended) - max(a, since) >= HOLD]
    if back and since is not None:
        return measured("leadership_return", fault, "run", (back[0] - since) / 1e9)
    after = TimeSpan(fault, since or 0, ended)
    if since is None or not all(said.watched(topic, after) for topic in case.topics):
        return measured("leadership_return", fault, "run", None)
    return measured("leadership_return", fault, "run", max(0, ended - since) / 1e9, censored=True)
