"""Duration of members' joins to their group, in stages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chaosk.analysis.case import TimeSpan
from chaosk.analysis.check_rows import CheckRows, FewRows
from chaosk.analysis.checks._contract import Check, informing
from chaosk.analysis.counts import measured
from chaosk.analysis.event_files import read
from chaosk.analysis.events import Events
from chaosk.rundir.verdict import Measure


class Joins(Check):
    """Each assignment of partitions to a group member, with the duration of each stage up to its first record.

    D7, stages as observed by the probe. ``coordinator``: from the subscription (or the loss of the previous partitions)
    until the group's coordinator was found and connected; 0 if it still was. ``assignment``: join and sync together,
    since librdkafka documents no way to separate them. ``offsets``: until the committed offsets were known. ``record``:
    until the first record, which takes long if a partition has no new records. A stage with unknown end is empty, and
    its time is part of the next known stage.

    Columns: probe, incarnation, group, rebalance, partitions (number assigned), coordinator, assignment, offsets,
    record and total, in seconds.
    """

    rule = "D7"
    title = "how members joined their groups"
    counted = ("join of a member", "joins of members")
    metrics = ("assignment_time", "join_time")
    tables = ("joins",)
    order = ("began", "probe", "incarnation", "rebalance")

    def plain(self, events: Events) -> FewRows:
        """Return a row for each join, as information; an objective decides whether one took too long."""
        return informing(_stages(join) for join in read(events.case.events, "joins").to_pylist())

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``assignment_time`` and ``join_time`` (the longest) of each group and window."""
        joins = found.rows("group", "began", "ended", "coordinator", "assignment", "total")
        return (
            measure
            for group in events.case.groups
            for window in events.case.windows
            for measure in _figures(window, group, [row for row in joins if row["group"] == group])
        )


def _stages(join: dict[str, Any]) -> dict[str, Any]:
    """Return a row of ``joins`` with the seconds of each stage, and the time from its beginning to its last stage."""
    assigned, fetched, first = join["assigned"], join["fetched"], join["first"]
    began = _known(join["began"], assigned)
    there = None if join["coordinator"] is None else min(max(join["coordinator"], began), assigned)
    seconds = {
        "coordinator": (there, began),
        "assignment": (assigned, _known(there, began)),
        "offsets": (fetched, assigned),
        "record": (first, _known(fetched, assigned)),
        "total": (first, began),
    }
    return {
        "began": began,
        "ended": _known(first, fetched, assigned),
        **{name: join[name] for name in ("probe", "incarnation", "group", "rebalance", "partitions")},
        **{name: None if until is None else (until - since) / 1e9 for name, (until, since) in seconds.items()},
    }


def _known(*times: int | None) -> int:
    """Return the first known time."""
    return next(time for time in times if time is not None)


def _figures(window: TimeSpan, group: str, joins: Iterable[dict[str, Any]]) -> Iterable[Measure]:
    mine = [j for j in joins if window.name == "run" or (j["began"] <= window.ended and window.began <= j["ended"])]
    if not mine:
        return
    waited = max((row["coordinator"] or 0.0) + row["assignment"] for row in mine)
    yield measured("assignment_time", group, window.name, waited)
    whole = [row["total"] for row in mine if row["total"] is not None]
    if whole:
        yield measured("join_time", group, window.name, max(whole))
