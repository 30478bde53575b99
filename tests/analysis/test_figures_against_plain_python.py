"""The figures against their definitions in plain Python, on runs in which clients wait, fail and starve at random.

What objectives bound is as much of a verdict as what is lost: both have to come to the same numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from math import ceil
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pytest
from analysis.history import History, Row, ns

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]

SECOND = 1_000_000_000
PARTITIONS = 3
WINDOWS = {"run": (-5, 20), "baseline": (-5, 0), "kill": (1.1, 6), "after_heal": (6, 20)}
SETTLED, DRAINED = 20, 21
Stretch = tuple[int, int, bool]
"""Began, ended, and whether it had not ended by then."""


class Figure(NamedTuple):
    """Whose figure, and when."""

    metric: str
    subject: str
    window: str


def chaotic(seed: int) -> History:
    """Two producers, one of which sends seldom; acknowledgements and deliveries stall, some sends come to nothing."""
    draw = Random(seed)  # noqa: S311 - repeatable, not secret
    history = History()
    history.topic["partitions"] = PARTITIONS
    history.probes["seldom"] = {"produce": {"topic": "orders", "rate": "1/s"}}
    history.record["probes"].append({"probe": "seldom", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    history.worker("seldom", kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    for partition in range(1, PARTITIONS):
        history.add("assignments", partition=partition, at=-5.9)
        history.add("fetched", partition=partition, offset=None, invoked=-5.85, completed=-5.8)
        for isolation in ("read_uncommitted", "read_committed"):
            history.add("audit_ranges", isolation=isolation, partition=partition, log_start=0, end=-1, complete=True)
    sends = list(sent(draw, "writer", draw.choice([5, 10, 20]))) + list(sent(draw, "seldom", draw.choice([0.7, 1, 2])))
    log: dict[int, list[Row]] = defaultdict(list)
    for row in sorted(sends, key=lambda row: row["completed"]):
        if row["outcome"] == "ok":
            row["offset"] = len(log[row["partition"]])
            log[row["partition"]].append(row)
        history.add("sends", **row)
    deliveries: list[Row] = []
    for partition, rows in log.items():
        deliveries += list(delivered(draw, partition, rows))
        for row in rows:
            history.audit(row["offset"], partition=partition, producer=row["probe"], seq=row["seq"])
    for row in sorted(deliveries, key=lambda row: (row["at"], row["partition"], row["offset"])):
        history.read(**row)
    return history


def stalls(draw: Random) -> list[tuple[float, float]]:
    """Some stretches of the run, seldom in its baseline."""
    begins = [draw.uniform(-2 if draw.random() < 0.2 else 0.5, 18) for _ in range(draw.randrange(4))]
    return [(began, began + draw.uniform(0.3, 6)) for began in begins]


def sent(draw: Random, probe: str, rate: float) -> Iterator[Row]:
    """The sends of one producer, in the order in which they were due, and so acknowledged within each partition."""
    slow = draw.choice([0.01, 0.05, 0.2])
    stalled = {partition: stalls(draw) for partition in range(PARTITIONS)}
    reached = dict.fromkeys(range(PARTITIONS), -6.0)
    for seq in range(int(25 * rate)):
        due, partition = -5 + seq / rate, draw.randrange(PARTITIONS)
        done = due + draw.uniform(0.2, 1) * slow
        ends = [ended for began, ended in stalled[partition] if began <= done < ended]
        done = max([done, reached[partition], *ends])
        outcome = draw.choices(["ok", "fail", "info"], [6, 1, 1])[0] if ends else "ok"
        chosen = None if outcome == "fail" and draw.random() < 0.3 else partition
        if outcome == "ok":
            reached[partition] = done
        yield {
            "probe": probe, "seq": seq, "partition": chosen, "scheduled": due, "invoked": due, "completed": done,
            "outcome": outcome, "offset": None, "error": None if outcome == "ok" else "_MSG_TIMED_OUT",
        }  # fmt: skip


def delivered(draw: Random, partition: int, rows: list[Row]) -> Iterator[Row]:
    """The deliveries of one partition, in order: each record once, until the reader gets no more of it."""
    stalled, reached = stalls(draw), -6.0
    left = len(rows) - (draw.randrange(1, 5) if draw.random() < 0.3 else 0)
    for row in rows[: max(left, 1)]:
        at = row["completed"] + draw.uniform(0.001, 0.05)
        at = max([at, reached, *(ended for began, ended in stalled if began <= at < ended)])
        reached = at
        yield {
            "offset": row["offset"], "at": at, "seq": row["seq"], "partition": partition, "producer": row["probe"],
        }  # fmt: skip


# --- the definitions --------------------------------------------------------------------------------------------------


def of_producer(sends: list[Row], partition: int) -> Iterator[Stretch]:
    """D1, before it is asked whether they are long: stretches from one acknowledgement to the next with a send waiting.

    What failed before a partition was chosen waited for any of them.
    """
    here = [row for row in sends if row["partition"] == partition]
    others = [row for row in sends if row["partition"] is None]
    acked = sorted(row["completed"] for row in here if row["outcome"] == "ok")
    marks = sorted({*acked, min((row["scheduled"] for row in here), default=0)})
    bad = [row["completed"] for row in (*here, *others) if row["outcome"] != "ok"]
    pairs = [(low, high, False) for low, high in pairwise(marks)]
    if here and max(bad, default=0) > marks[-1]:
        pairs.append((marks[-1], max(bad), True))
    for low, high, open_end in pairs:
        waited = [row["scheduled"] for row in (*here, *others) if row["completed"] > low and row["scheduled"] < high]
        if waited:
            yield max(low, min(waited)), high, open_end


def least(sends: list[Row]) -> float:
    """D1: from when on such a stretch counts: a second, or ten times the 99th percentile of those in the baseline."""
    low, high = (ns(seconds) for seconds in WINDOWS["baseline"])
    waits = []
    for partition in range(PARTITIONS):
        acked = sorted(
            (row["completed"], row["scheduled"])
            for row in sends
            if row["partition"] == partition and row["outcome"] == "ok" and low <= row["completed"] <= high
        )
        before = 0
        for completed, scheduled in acked:
            waits.append(completed - max(before, scheduled))
            before = completed
    waits.sort()
    return max(SECOND, 10 * waits[ceil(0.99 * len(waits)) - 1] if waits else 0)


def of_consumer(history: History, partition: int) -> Iterator[Stretch]:
    """D2: from one delivery to the next, and from the last one on, while an acknowledged record waited.

    Until the first delivery it is since the reader was given the partition.
    """
    acked = {
        (row["probe"], row["seq"]): row for row in history.rows["sends"]
        if row["outcome"] == "ok" and row["partition"] == partition
    }  # fmt: skip
    reads = sorted(
        (row for row in history.rows["reads"] if row["partition"] == partition), key=lambda row: row["offset"]
    )
    for one, other in pairwise(reads):
        record = acked[other["producer"], other["seq"]]
        yield max(one["at"], record["completed"]), other["at"], False
    given = next(row["at"] for row in history.rows["assignments"] if row["partition"] == partition)
    if reads:
        first, last = reads[0], reads[-1]
        yield max(given, acked[first["producer"], first["seq"]]["completed"]), first["at"], False
        unread = [row["completed"] for row in acked.values() if row["offset"] > last["offset"]]
        if unread:
            yield max(last["at"], min(unread)), ns(DRAINED), True


def outages(stretches: list[Stretch], subject: str) -> Iterator[tuple[Figure, float]]:
    """The longest one, and the time with any, of those that a window overlaps."""
    for window, (began, ended) in WINDOWS.items():
        mine = sorted(one for one in stretches if one[0] <= ns(ended) and ns(began) <= one[1])
        yield Figure("unavailability", subject, window), max((b - a for a, b, _ in mine), default=0) / 1e9
        seconds, reached = 0, 0
        for low, high, _ in mine:
            seconds += max(0, high - max(low, reached))
            reached = max(reached, high)
        yield Figure("unavailable_total", subject, window), seconds / 1e9


def within(time: int, window: str) -> bool:
    """Whether a moment is in a window; to the run belongs every record, also of its warm-up and drain."""
    began, ended = WINDOWS[window]
    return ns(began) <= time < ns(ended)


def percentile(values: list[int], share: float) -> float | None:
    """The least value that so many do not exceed, in seconds."""
    return sorted(values)[ceil(share * len(values)) - 1] / 1e9 if values else None


def bounded(took: list[int], waited: list[int], share: float) -> float | None:
    """The same, where what never came is slower than all that did, and took at least as long as it waited."""
    rank = ceil(share * (len(took) + len(waited)))
    slowest = sorted(took) if rank <= len(took) else sorted(took + waited)
    return slowest[rank - 1] / 1e9 if slowest else None


def counts(rows: list[Row], subject: str, window: str) -> Iterator[tuple[Figure, float | None]]:
    """D3 and D4 of a producer: records by when they were due, acknowledgements by when they came."""
    due = [row for row in rows if within(row["scheduled"], window)]
    took = [row["completed"] - row["scheduled"] for row in due if row["outcome"] == "ok"]
    waited = [row["completed"] - row["scheduled"] for row in due if row["outcome"] != "ok"]
    counted = rows if window == "run" else due
    for metric, outcome in (("acknowledged_records", "ok"), ("failed_records", "fail"), ("uncertain_records", "info")):
        yield Figure(metric, subject, window), sum(row["outcome"] == outcome for row in counted)
    came = sum(row["outcome"] == "ok" and within(row["completed"], window) for row in rows)
    yield Figure("acknowledgements", subject, window), came
    began, ended = WINDOWS[window]
    yield Figure("throughput", subject, window), came / (ended - began)
    yield Figure("latency_p50", subject, window), bounded(took, waited, 0.5)
    yield Figure("latency_p99", subject, window), bounded(took, waited, 0.99)
    yield Figure("latency_max", subject, window), bounded(took, waited, 1)


def expected(history: History) -> dict[Figure, float | None]:
    """Every figure that is compared."""
    found: dict[Figure, float | None] = {}
    for probe in ("writer", "seldom"):
        rows = [row for row in history.rows["sends"] if row["probe"] == probe]
        long = least(rows)
        stretches = [
            one for number in range(PARTITIONS) for one in of_producer(rows, number) if one[1] - one[0] >= long
        ]
        found.update(outages(stretches, probe))
        for window in WINDOWS:
            found.update(counts(rows, probe, window))
    stretches = [one for number in range(PARTITIONS) for one in of_consumer(history, number)]
    found.update(outages([one for one in stretches if one[1] - one[0] >= SECOND], "reader"))
    due = {(row["probe"], row["seq"]): row["scheduled"] for row in history.rows["sends"]}
    acked = {(row["probe"], row["seq"]) for row in history.rows["sends"] if row["outcome"] == "ok"}
    for window, (began, ended) in WINDOWS.items():
        reads = history.rows["reads"]
        came = sum(within(row["at"], window) for row in reads)
        took = [row["at"] - due[row["producer"], row["seq"]] for row in reads
                if within(due[row["producer"], row["seq"]], window)]  # fmt: skip
        unread = due.keys() - {(row["producer"], row["seq"]) for row in reads}
        waited = [ns(SETTLED) - due[value] for value in unread & acked if within(due[value], window)]
        found[Figure("deliveries", "reader", window)] = came
        found[Figure("throughput", "reader", window)] = came / (ended - began)
        found[Figure("end_to_end_p99", "reader", window)] = bounded(took, waited, 0.99)
        found[Figure("end_to_end_max", "reader", window)] = bounded(took, waited, 1)
    return found


ASKED = ("produce_unavailability", "consume_unavailability", "outcomes", "throughput", "latency", "end_to_end")
"""The checks that these figures are of."""


@pytest.mark.parametrize("seed", range(4))
def test_figures_are_what_their_definitions_say(judge: Judge, seed: int) -> None:
    """D1 to D4 of two producers and a reader, in each window: every number, to what a histogram tells apart (0.1 %)."""
    history = chaotic(seed)
    wanted = expected(history)
    verdict = judge(history, *ASKED)
    measured = {Figure(one.metric, one.subject, one.window): one.value for one in verdict.measures}
    said = {figure: measured[figure] for figure in wanted}
    assert said == {
        figure: None if value is None else pytest.approx(value, rel=0.0011, abs=0.001)
        for figure, value in wanted.items()
    }
    assert any(figure.metric == "unavailability" and value for figure, value in wanted.items())
