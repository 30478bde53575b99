"""Calls to real brokers: what a cut host costs each of them, and what one that is dead does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from chaosk.probes.call import Call
from chaosk.probes.consume import Consume
from chaosk.probes.worker.process import ProbeProcess
from chaosk.spec.command import Command

from .conftest import Cluster, until

pytestmark = [pytest.mark.lab, pytest.mark.long]


def call(timeout: str = "3s", **fields: Any) -> Call:
    """Five calls a second, given up after three seconds."""
    return Call.model_validate({"every": "200ms", "timeout": timeout, **fields})


def more(process: ProbeProcess, *, fail: int = 0, ok: int = 0) -> None:
    """Wait for so many more outcomes."""
    state = process.state()
    until(process, lambda now: now.fail >= state.fail + fail and now.ok >= state.ok + ok)


@contextmanager
def deaf(cluster: Cluster, broker: int) -> Iterator[None]:
    """A broker whose client port drops everything for a while."""
    port = str(cluster.inventory.client_addresses()[broker][1])

    def firewall(action: str) -> None:
        argv = ("iptables", "-w", action, "INPUT", "-p", "tcp", "--dport", port, "-j", "DROP")
        host = cluster.inventory.brokers[broker].host
        result = cluster.hosts.run(Command(host=host, argv=argv, sudo=True, timeout=30.0))
        assert result.ok, result.stderr

    firewall("-I")
    try:
        yield
    finally:
        firewall("-D")


def test_every_operation_is_answered_by_a_real_cluster(cluster: Cluster) -> None:
    """Each of them, by clients that are kept and by fresh ones, and none fails; one may be under way at the end."""
    topic = cluster.topic()
    reader = cluster.start(Consume.model_validate({"topic": topic, "group": "called"}), "reader")
    until(reader, lambda state: state.reached is not None)
    about = {
        "metadata": {"topic": topic}, "end_offsets": {"topic": topic}, "describe_group": {"group": "called"},
        "committed_offsets": {"topic": topic, "group": "called"}, "describe_cluster": {},
    }  # fmt: skip
    for client in ("kept", "fresh"):
        started = {
            f"{client}-{operation}": cluster.start(
                call("1m", operation=operation, client=client, **fields), f"{client}-{operation}", **{topic: 3}
            )
            for operation, fields in about.items()
        }
        for process in started.values():
            until(process, lambda state: state.ok >= 3)
        for name, process in started.items():
            assert process.stop(30) == 0
            assert {row["error"] for row in cluster.rows("calls", name) if row["outcome"] != "info"} == {None}, name


def test_what_hangs_while_one_broker_is_cut_off(cluster: Cluster) -> None:
    """Only a partition's leader knows its end, and the controller describes the cluster; then both are as before."""
    topic, controller = cluster.topic(), cluster.controller()
    leader = next(broker for broker in cluster.leaders(topic).values() if broker != controller)
    ends = cluster.start(call(operation="end_offsets", topic=topic), "ends", **{topic: 3})
    describe = cluster.start(call(operation="describe_cluster"), "describe")
    more(ends, ok=5)
    more(describe, ok=5)
    with deaf(cluster, leader):
        more(ends, fail=1)
        more(describe, ok=3)
    more(ends, ok=5)
    with deaf(cluster, controller):
        more(describe, fail=1)
    more(describe, ok=5)
    assert ends.stop(30) == describe.stop(30) == 0
    for name, errors in {"ends": {"_TIMED_OUT", "UNANSWERED"}, "describe": {"_TIMED_OUT"}}.items():
        failed = [row for row in cluster.rows("calls", name) if row["outcome"] == "fail"]
        assert {row["error"] for row in failed} <= errors
        assert max(row["completed"] - row["began"] for row in failed) >= 2_900_000_000, "it hung for all of its time"
