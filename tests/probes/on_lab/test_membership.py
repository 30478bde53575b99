"""Members that are too slow for their group, static members that start again, and the way to the first record."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Cluster, until
from .test_consume import reader, writer

pytestmark = [pytest.mark.lab, pytest.mark.long]


def wait(holds: Callable[[], bool], within: float = 90) -> None:
    """Wait until something holds."""
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.2)


def changes(cluster: Cluster, name: str, incarnation: int = 0) -> list[tuple[str, int]]:
    """What was assigned to and taken from a member."""
    return [(row["kind"], row["partition"]) for row in cluster.rows("assignments", name, incarnation)]


def test_work_beyond_the_poll_interval_costs_the_partitions(cluster: Cluster) -> None:
    """The member is out while it works; another one reads the same records, and no commit of the late one counts."""
    topic = cluster.topic(partitions=2)
    sending = cluster.start(writer(topic), "writer")
    config = {"session.timeout.ms": 6000, "max.poll.interval.ms": 7000}
    slow = cluster.start(reader(topic, commit="sync", processing="12s/batch", batch=50, config=config), "slow")
    wait(lambda: any(kind == "assign" for kind, _ in changes(cluster, "slow")))
    quick = cluster.start(reader(topic, commit="sync"), "quick")
    until(quick, lambda state: state.ok > 300)
    wait(lambda: any(kind == "lost" for kind, _ in changes(cluster, "slow")))
    before = quick.state().ok
    until(quick, lambda state: state.ok > before + 300)
    assert sending.stop(30) == 0
    assert slow.stop(60) == 0
    # The late one joins again and may hold a partition up to here: the other one takes it over only now.
    cluster.until_read(("slow", 0), ("quick", 0))
    assert quick.stop(30) == 0
    told = {row["error"] for row in cluster.rows("polls", "slow") if row["error"]}
    assert any("_MAX_POLL_EXCEEDED" in each for each in told)
    lost = next(row for row in cluster.rows("assignments", "slow") if row["kind"] == "lost")
    had = {row["seq"] for row in cluster.rows("reads", "slow")}
    assert had & {row["seq"] for row in cluster.rows("reads", "quick")}, "what it was late with was read by the other"
    taken = [
        row["at"]
        for row in cluster.rows("assignments", "quick")
        if row["kind"] == "assign" and row["partition"] == lost["partition"] and row["at"] < lost["at"]
    ]
    late = [
        row
        for row in cluster.rows("commits", "slow")
        if taken and row["partition"] == lost["partition"] and max(taken) < row["invoked"] < lost["at"]
    ]
    assert all(row["outcome"] == "fail" for row in late), late


def test_of_two_members_with_one_id_the_older_one_is_fenced(cluster: Cluster) -> None:
    """The newer one has its partitions with no rebalance; the older one reads until it is told so, and never again."""
    topic = cluster.topic(partitions=2)
    sending = cluster.start(writer(topic), "writer")
    member = reader(topic, commit="automatic", config={"group.instance.id": "till"})
    older = cluster.start(member, "older")
    until(older, lambda state: state.ok > 200)
    newer = cluster.start(member, "newer")
    until(newer, lambda state: state.ok > 100)
    wait(lambda: any(kind == "lost" for kind, _ in changes(cluster, "older")))
    assert sending.stop(30) == 0
    cluster.until_read(("older", 0), ("newer", 0))
    assert older.stop(30) == 0
    assert newer.stop(30) == 0
    assert [row["error"] for row in cluster.rows("errors", "older") if row["fatal"]] == ["FENCED_INSTANCE_ID"]
    assert sorted(changes(cluster, "older")) == [("assign", 0), ("assign", 1), ("lost", 0), ("lost", 1)]
    fenced = min(row["at"] for row in cluster.rows("assignments", "older") if row["kind"] == "lost")
    assert max(row["at"] for row in cluster.rows("reads", "older")) < fenced
    generations = {row["generation"] for name in ("older", "newer") for row in cluster.rows("generations", name)}
    assert len(generations) == 1, "the group was rebalanced"


@pytest.mark.parametrize("ends", ["stop", "kill"])
def test_a_static_member_that_starts_again_is_not_missed(cluster: Cluster, ends: str) -> None:
    """Within its session it has the same partitions again, and the other member's are not touched."""
    topic = cluster.topic(partitions=4)
    sending = cluster.start(writer(topic), "writer")

    def member(name: str) -> Any:
        return reader(topic, commit="sync", config={"group.instance.id": name, "session.timeout.ms": 30_000})

    one = cluster.start(member("one"), "one")
    until(one, lambda state: state.ok > 100)
    two = cluster.start(member("two"), "two")
    until(two, lambda state: state.ok > 100)
    until(one, lambda state: state.ok > 500)
    mine, theirs = changes(cluster, "two"), changes(cluster, "one")
    if ends == "stop":
        assert two.stop(30) == 0
    else:
        two.kill()
    again = cluster.start(member("two"), "two", 1)
    until(again, lambda state: state.ok > 300)
    assert changes(cluster, "one") == theirs, "nobody asked it to give anything up"
    kept = {partition for kind, partition in mine if kind == "assign"}
    assert {partition for kind, partition in changes(cluster, "two", 1) if kind == "assign"} == kept
    assert sending.stop(30) == 0
    cluster.until_read(("one", 0), ("two", 0), ("two", 1))
    assert one.stop(30) == 0
    assert again.stop(30) == 0
    processes = (("one", 0), ("two", 0), ("two", 1))
    seen = {row["seq"] for process in processes for row in cluster.rows("reads", *process)}
    assert seen == {row["seq"] for row in cluster.rows("sends", "writer")}


def test_the_way_to_the_first_record_in_stages(cluster: Cluster) -> None:
    """Two members join: each of their joins has its moments in order, and a rebalance is one of its own."""
    topic = cluster.topic(partitions=4)
    sending = cluster.start(writer(topic), "writer")
    one = cluster.start(reader(topic, commit="sync"), "one")
    until(one, lambda state: state.ok > 300)
    two = cluster.start(reader(topic, commit="sync"), "two")
    until(two, lambda state: state.ok > 300)
    wait(lambda: len(cluster.rows("joins", "one")) == 2 and len(cluster.rows("joins", "two")) == 1)
    assert sending.stop(30) == 0
    assert one.stop(30) == 0
    assert two.stop(30) == 0
    first, second = cluster.rows("joins", "one")
    (other,) = cluster.rows("joins", "two")
    assert [row["partitions"] for row in (first, second, other)] == [4, 2, 2]
    for row in (first, second, other):
        assert row["began"] <= row["assigned"] <= row["fetched"] <= row["first"]
    assert first["began"] < first["coordinator"] < first["assigned"]
    assert second["coordinator"] < second["began"], "it had its coordinator, and did not look for it again"
    taken = [row["at"] for row in cluster.rows("assignments", "one") if row["kind"] == "revoke"]
    assert first["first"] < second["began"] <= min(taken)
