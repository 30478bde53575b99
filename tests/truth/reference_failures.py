"""The rule about records that failed in processing (B3, swallowed) in plain Python, from its definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from analysis.history import Row
from truth.logs import Value
from truth.reference_reading import blind, hidden, holdings
from truth.story import Story, member_of, value_of


def swallowed(story: Story) -> Iterator[Row]:
    """B3: every delivery of a record to a group failed, and the group has committed past it; no dead letters here."""
    failures: dict[tuple[str, Value], list[Row]] = defaultdict(list)
    for row in story.rows["failures"]:
        if row["group"] is not None:
            failures[row["group"], (row["producer"], row["producer_incarnation"], row["seq"])].append(row)
    spans, held, killed = blind(story), holdings(story), story.killed()
    for (group, value), rows in failures.items():
        last = max(rows, key=lambda row: (row["at"], row["n"]))
        holding = held.get((group, last["topic"], last["partition"]))
        given = [row for row in story.all("reads", group=group) if value_of(row) == value]
        sure = [row for row in given if not _last_of_a_killed(story, row)]
        if len(sure) > len(rows) or holding is None or last["offset"] >= (holding.committed or 0):
            continue
        again = any(row["handling"] == "seek_back" and member_of(row) in killed for row in rows)
        unproven = (
            again or len(given) > len(rows) or hidden(spans[group, last["topic"], last["partition"]], last["offset"])
        )
        yield {
            "severity": "unproven" if unproven else "violation", "group": group,
            **{name: last[name] for name in ("topic", "partition", "offset", "handling")},
            "producer": value[0], "producer_incarnation": value[1], "seq": value[2], "attempts": len(rows),
            "letters": 0, "committed": holding.committed,
        }  # fmt: skip


def _last_of_a_killed(story: Story, row: Row) -> bool:
    """Whether a delivery that did not fail is of the last poll of a killed process, which may not have come to it."""
    who = member_of(row)
    failed = any((member_of(each), each["n"]) == (who, row["n"]) for each in story.rows["failures"])
    polls = [each["poll"] for each in story.rows["reads"] if member_of(each) == who]
    return who in story.killed() and not failed and row["poll"] == max(polls)
