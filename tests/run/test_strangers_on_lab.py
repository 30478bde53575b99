"""Clients on the cluster that no scenario knows: what they take from a run is told, and excuses nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from run.test_run_on_lab import HEAD, KILL

from chaosk.lab.namespace import inside

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600), pytest.mark.long]

BOOTSTRAP = "198.18.0.11:9092,198.18.0.12:9092,198.18.0.13:9092"
"""The brokers of a lab."""


def delete_half(topic: str) -> int:
    """Delete the older half of the records of partition 0; how many that were."""
    reader = Consumer({"bootstrap.servers": BOOTSTRAP, "group.id": "deleting"})
    _, end = reader.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)
    reader.close()
    half, admin = int(end) // 2, AdminClient({"bootstrap.servers": BOOTSTRAP})
    for deleted in admin.delete_records([TopicPartition(topic, 0, half)], request_timeout=30).values():
        assert deleted.result(30).low_watermark == half
    return half


def hold(group: str, topic: str, held: threading.Event, over: threading.Event) -> None:
    """Be a member of a group that commits nothing, until it is ``over``; ``held`` once it has a partition."""
    member = Consumer({"bootstrap.servers": BOOTSTRAP, "group.id": group, "enable.auto.commit": False})
    member.subscribe([topic], on_assign=lambda _, given: held.set() if given else None)
    try:
        while not over.is_set():
            member.poll(0.2)
    finally:
        member.close()


def keep_open(topic: str, held: threading.Event, over: threading.Event) -> None:
    """Write to a topic in a transaction that is open until it is ``over``; ``held`` once it has a record there."""
    writer = Producer(
        {"bootstrap.servers": BOOTSTRAP, "transactional.id": "stranger", "transaction.timeout.ms": 300_000}
    )
    writer.init_transactions(30)
    writer.begin_transaction()
    writer.produce(topic, b"by nobody's plan", partition=0)
    assert writer.flush(30) == 0
    held.set()
    over.wait()
    writer.abort_transaction(30)


def test_an_open_transaction_of_another_client_is_told(start: Callable[..., Any], lab_inventory: Path) -> None:
    """Readers at read_committed get nothing beyond it, so the audit cannot say what is in the log for them."""
    run = start(HEAD + KILL % "10s")
    run.wait_for("kill: verified")
    held, over = threading.Event(), threading.Event()
    within = f"chaosk-{lab_inventory.parent.name}"
    stranger = threading.Thread(target=inside, args=(within, lambda: keep_open("orders", held, over)))
    stranger.start()
    try:
        assert held.wait(60), "the stranger's record was not written"
        code = run.finish()
    finally:
        over.set()
        stranger.join(60)
    assert code == 2, run.text
    verdict = run.read("verdict.json")
    assert "last_stable_behind" in {guard["guard"] for guard in verdict["guards"]}
    assert [each["check"] for each in verdict["findings"] if each["severity"] == "violation"] == []


def test_records_that_another_client_deletes_are_lost(start: Callable[..., Any], lab_inventory: Path) -> None:
    """DeleteRecords by nobody's plan: each acknowledged record below the new log start is a violation of its own."""
    run = start(HEAD.replace("partitions: 3", "partitions: 1") + KILL % "10s")
    run.wait_for("kill: healed")
    gone = inside(f"chaosk-{lab_inventory.parent.name}", lambda: delete_half("orders"))
    assert gone > 100
    assert run.finish() == 1, run.text
    verdict = run.read("verdict.json")
    (lost,) = (each for each in verdict["findings"] if each["check"] == "lost")
    assert lost["count"] == gone
    assert "another client's DeleteRecords" in lost["reason"]
    (log,) = (each for each in verdict["ledger"] if not each["reader"])
    assert log["violation"] == gone
    assert log["owed"] == log["delivered"] + gone


def test_a_partition_that_another_member_of_the_group_holds_is_owed(
    start: Callable[..., Any], lab_inventory: Path
) -> None:
    """A member that nobody planned has it to the end, so the group's own are given nothing of it: a violation.

    It lasts longer than a member that died, or the drain, could make it last.
    """
    patience = "commit: sync, config: {session.timeout.ms: 6000, max.poll.interval.ms: 6000}}"
    head = HEAD.replace("commit: sync}", patience).replace("settle: 5s", "settle: 25s")
    run = start(head + KILL % "10s")
    run.wait_for("kill: verified")
    group = run.read("plan.json")["scenario"]["probes"]["reader"]["consume"]["group"]
    held, over = threading.Event(), threading.Event()
    within = f"chaosk-{lab_inventory.parent.name}"
    stranger = threading.Thread(target=inside, args=(within, lambda: hold(group, "orders", held, over)))
    stranger.start()
    try:
        assert held.wait(60), "the stranger was given no partition"
        told = time.monotonic()
        code = run.finish()
    finally:
        over.set()
        stranger.join(30)
    assert time.monotonic() - told > 10
    assert code == 1, run.text
    verdict = run.read("verdict.json")
    assert [each["rule"] for each in verdict["findings"] if each["severity"] == "violation"] == ["A5"]
    assert [each["violation"] > 0 for each in verdict["ledger"] if each["reader"]] == [True]
