"""Exactly once under real faults: every input that the group committed past has one output that can be read."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from chaosk.probes.produce import Produce
from chaosk.probes.transform import Transform

from .conftest import Cluster, until
from .test_transaction import committed

pytestmark = [pytest.mark.lab, pytest.mark.long]


def test_a_leader_and_the_application_are_killed(cluster: Cluster) -> None:
    """SIGKILL of a leader of the outputs, then of the probe: nothing is done twice, nothing is left out."""
    orders, invoices = cluster.topic(), cluster.topic()
    group = f"billing-{time.time_ns()}"
    fields = {"topic": orders, "to": invoices, "group": group, "config": {"session.timeout.ms": 6000}}
    pipe = Transform.model_validate({**fields, "transaction": {"records": 50, "abort_every": 7, "id": group}})
    plain = {"topic": orders, "rate": "300/s", "config": {"enable.idempotence": True}}
    writer = cluster.start(Produce.model_validate(plain), "writer")
    first = cluster.start(pipe, "pipe")
    until(first, lambda state: state.ok > 500)
    killed = cluster.leaders(invoices)[0]
    cluster.signal(killed, "KILL")
    time.sleep(5)
    cluster.revive(killed)
    before = first.state().ok
    until(first, lambda state: state.ok > before + 500)
    first.kill()
    second = cluster.start(pipe, "pipe", 1)
    until(second, lambda state: state.ok > 500)
    assert writer.stop(30) == 0
    cluster.until_read(("pipe", 0), ("pipe", 1))
    assert second.stop(30) == 0
    there = committed(cluster, invoices)
    links = {
        ("pipe", incarnation, row["seq"]): (row["partition"], row["offset"])
        for incarnation in (0, 1)
        for row in cluster.rows("outputs", "pipe", incarnation)
    }
    assert there <= set(links), "whose output each is was written down before it could be seen"
    done = Counter(links[output] for output in there)
    assert set(done.values()) == {1}
    assert len(done) == len(committed(cluster, orders)), "all of them: it had caught up and ended cleanly"
    outcomes = Counter(row["outcome"] for n in (0, 1) for row in cluster.rows("transactions", "pipe", n))
    assert outcomes["committed"] > 20
    assert outcomes["aborted"] > 2


def test_a_clean_end_leaves_nothing_half_done(cluster: Cluster) -> None:
    """Where each transaction is aborted on purpose, the last is not: all that was ever read is done once in the end."""
    orders, invoices = cluster.topic(), cluster.topic()
    group = f"closing-{time.time_ns()}"
    fields = {"topic": orders, "to": invoices, "group": group}
    pipe = Transform.model_validate({**fields, "transaction": {"records": 50, "abort_every": 1, "id": group}})
    writer = cluster.start(Produce.model_validate({"topic": orders, "rate": "300/s"}), "writer")
    reader = cluster.start(pipe, "pipe")
    until(reader, lambda state: state.ok > 500)
    assert not committed(cluster, invoices)
    assert reader.stop(30) == 0
    assert writer.stop(30) == 0
    read = {(row["partition"], row["offset"]) for row in cluster.rows("reads", "pipe")}
    links = {("pipe", 0, row["seq"]): (row["partition"], row["offset"]) for row in cluster.rows("outputs", "pipe")}
    done = Counter(links[output] for output in committed(cluster, invoices))
    assert set(done) == read
    assert set(done.values()) == {1}


def test_the_coordinator_of_its_group_is_killed_and_stays_away(cluster: Cluster) -> None:
    """The group has another one soon; a client that never asks for it again is replaced, and nothing is done twice."""
    orders, invoices = cluster.topic(), cluster.topic()
    group = f"shipping-{time.time_ns()}"
    fields = {"topic": orders, "to": invoices, "group": group, "config": {"session.timeout.ms": 6000}}
    pipe = Transform.model_validate({**fields, "transaction": {"records": 50, "id": group}})
    plain = {"topic": orders, "rate": "300/s", "config": {"enable.idempotence": True}}
    writer = cluster.start(Produce.model_validate(plain), "writer")
    reader = cluster.start(pipe, "pipe")
    until(reader, lambda state: state.ok > 500)
    killed = cluster.coordinator(group)
    cluster.signal(killed, "KILL")
    try:
        before = reader.state().ok
        until(reader, lambda state: state.ok > before + 500, within=90)
    finally:
        cluster.revive(killed)
    assert writer.stop(30) == 0
    cluster.until_read(("pipe", 0))
    assert reader.stop(30) == 0
    links = {("pipe", 0, row["seq"]): (row["partition"], row["offset"]) for row in cluster.rows("outputs", "pipe")}
    done = Counter(links[output] for output in committed(cluster, invoices))
    assert set(done.values()) == {1}
    assert len(done) == len(committed(cluster, orders))
