"""Clients that break their promise on a real cluster: their library is replaced by one that drops what it was given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run.test_run_on_lab import HEAD, KILL

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600), pytest.mark.long]

DROPS_FIRST = """
import confluent_kafka

class Consumer(confluent_kafka.Consumer):
    def __init__(self, config, **more):
        super().__init__(config, **more)
        self.left = 100 if config["group.id"].startswith("readers") else 0

    def consume(self, *args, **settings):
        records = super().consume(*args, **settings)
        wrong = [each for each in records if each.error() is None][: self.left]
        self.left -= len(wrong)
        return [each for each in records if each not in wrong]

confluent_kafka.Consumer = Consumer
"""

DROPS_AN_OUTPUT = """
import confluent_kafka

class Producer(confluent_kafka.Producer):
    left = 500

    def produce_batch(self, topic, outputs, *args):
        self.left -= len(outputs)
        if self.left > 0 or topic != "invoices":
            return super().produce_batch(topic, outputs, *args)
        self.left = 10**9
        return 1 + super().produce_batch(topic, outputs[1:], *args)

confluent_kafka.Producer = Producer
"""

TRANSFORM = """\
name: Invoices
hypothesis: Each order has one invoice.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
  invoices: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 200/s, config: {acks: all, enable.idempotence: true}}}
  billing: {transform: {topic: orders, to: invoices, group: readers, transaction: {records: 50}}}
baseline: 3s
settle: 5s
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have every Python process of a run load this first."""

    def load(text: str) -> None:
        folder = tmp_path / "library"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(text, "utf-8")
        monkeypatch.setenv("PYTHONPATH", str(folder))

    return load


def violations(verdict: dict[str, Any]) -> dict[str, int]:
    """How many each rule counts."""
    return {each["rule"]: each["count"] for each in verdict["findings"] if each["severity"] == "violation"}


def test_the_first_records_that_a_group_never_gets_are_owed_to_it(
    start: Callable[..., Any], library: Callable[[str], None]
) -> None:
    """A group that begins at the log's start, and is given nothing of the first hundred: a violation for each."""
    library(DROPS_FIRST)
    run = start(HEAD + KILL % "10s")
    assert run.finish() == 1, run.text
    verdict = run.read("verdict.json")
    assert violations(verdict)["A5"] == 100
    assert [each["violation"] for each in verdict["ledger"] if each["reader"]] == [100]


def test_an_output_that_an_application_loses(start: Callable[..., Any], library: Callable[[str], None]) -> None:
    """Its input is committed and its output was never sent: exactly-once is violated, by one record."""
    library(DROPS_AN_OUTPUT)
    run = start(TRANSFORM + KILL % "10s")
    assert run.finish() == 1, run.text
    assert violations(run.read("verdict.json")) == {"C4": 1}


def test_a_client_that_must_fail_and_does_not(start: Callable[..., Any]) -> None:
    """Nothing keeps the second writer from writing, and the scenario says that something does."""
    intruder = "  intruder: {produce: {topic: orders, rate: 20/s, must_fail: always}}\n"
    run = start(HEAD.replace("  reader:", intruder + "  reader:") + KILL % "10s")
    assert run.finish() == 1, run.text
    verdict = run.read("verdict.json")
    (finding,) = (each for each in verdict["findings"] if each["severity"] == "violation")
    assert finding["check"] == "must_fail"
    assert (finding["count"], finding["evidence"][0]["probe"]) == (1, "intruder")


def test_kills_of_the_same_kind_take_the_same_time(start: Callable[..., Any]) -> None:
    """The change of leader after each of three kills is timed from the old leader's last sign to the new one's first.

    With ZooKeeper a killed broker is noticed when its session ends: six to nine seconds, never a fraction of one.
    """
    kills = "".join(
        f'  - {{name: kill-{number}, kill_broker: {{target: "leader(orders, 0)"}}, for: 20s}}\n'
        "  - wait: {duration: 5s}\n"
        for number in range(3)
    )
    run = start(HEAD + "timeline:\n" + kills)
    assert run.finish() == 0, run.text
    took = [
        each["value"]
        for each in run.read("verdict.json")["measures"]
        if each["metric"] == "election" and each["window"].startswith("kill-")
    ]
    assert len(took) == 3
    assert 2 < min(took) <= max(took) < 15, took
