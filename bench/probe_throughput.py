"""Probes against loops that log nothing: throughput, CPU per record, and how late a schedule is.

``python bench probe_throughput [--records N] [--rounds R]``. A mock cluster of librdkafka's runs in a process of its
own; each variant runs in a fresh process, the variants of a round one after the other, so that what else the machine
does falls on all of them; medians over the rounds. CPU is that of the variant's process alone. The goals are
ratios within one run, because figures of this machine mean nothing on another one.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from chaosk.probes._consume_loop import ConsumeLoop
from chaosk.probes._priority import go_first
from chaosk.probes._produce_loop import TICK, ProduceLoop
from chaosk.probes.consume import Consume
from chaosk.probes.produce import Produce
from chaosk.rundir.events.live import LiveLog, read_live
from chaosk.rundir.events.payload import Payload, encode
from chaosk.spec.contracts.probe import Workplace

TOPIC = "bench"
PARTITIONS = 4  # what a mock topic has
KEPT = 30_000  # records of 100 bytes that a mock partition keeps for sure: it drops all but its last 5 MB
CONFIG: dict[str, Any] = {"acks": -1, "linger.ms": 5, "queue.buffering.max.messages": 1_000_000}


class Stopwatch:
    """Seconds and CPU seconds of this process since it was made."""

    def __init__(self) -> None:
        self._began, self._used = time.perf_counter(), cpu()

    def result(self, records: int) -> dict[str, float]:
        """Records per second and CPU microseconds per record."""
        seconds = time.perf_counter() - self._began
        return {"rate": records / seconds, "cpu": (cpu() - self._used) / records * 1e6}


def cpu() -> float:
    """CPU seconds that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


# --- variants ---------------------------------------------------------------------------------------------------------


def produce_loop(servers: str, records: int, **report: Any) -> dict[str, float]:
    """The loop that anybody would write: a constant value, and ``report`` given to ``produce``."""
    client = Producer({"bootstrap.servers": servers, **CONFIG})
    client.list_topics(TOPIC, timeout=10)
    value = bytes(100)
    watch = Stopwatch()
    for number in range(records):
        while True:
            try:
                client.produce(TOPIC, value, **report)
                break
            except BufferError:
                client.poll(0.01)
        if number % 100 == 0:
            client.poll(0)
    client.flush()
    return watch.result(records)


def produce_no_callback(servers: str, records: int) -> dict[str, float]:
    """Nobody hears what became of the records."""
    return produce_loop(servers, records)


def produce_empty_callback(servers: str, records: int) -> dict[str, float]:
    """A callback that does nothing."""
    return produce_loop(servers, records, on_delivery=lambda _error, _message: None)


def produce_probe(servers: str, records: int) -> dict[str, float]:
    """The probe at full speed: every record with identity and checksum, every outcome logged."""
    probe = Produce.model_validate({"topic": TOPIC, "rate": "as_fast_as_possible", "config": CONFIG})
    with place(servers) as (at, stop):
        working = ProduceLoop(probe, at)
        stop.append(lambda: working._next >= records)  # noqa: SLF001 - the bench decides when it is enough
        watch = Stopwatch()
        working.run()
        return watch.result(working._next)  # noqa: SLF001


def produce_schedule(servers: str, records: int) -> dict[str, float]:
    """The probe at 10,000 records a second for a few seconds: lateness of each send, and CPU."""
    probe = Produce.model_validate({"topic": TOPIC, "rate": "10000/s", "config": CONFIG})
    with place(servers) as (at, stop):
        working = ProduceLoop(probe, at)
        stop.append(lambda: working._next >= records)  # noqa: SLF001
        began, used = time.perf_counter(), cpu()
        working.run()
        share = (cpu() - used) / (time.perf_counter() - began)
        at.log.flush()
        table = read_live(Path(at.log._folder) / "sends.arrows").table  # type: ignore[attr-defined] # noqa: SLF001
    times: list[tuple[Any, Any]] = list(zip(table["invoked"].to_pylist(), table["scheduled"].to_pylist(), strict=True))
    late = sorted((invoked - scheduled) / 1e6 for invoked, scheduled in times)
    missed = working._next - len(set(table["seq"].to_pylist()))  # noqa: SLF001
    return {
        "p50": late[len(late) // 2], "p99": late[len(late) * 99 // 100], "max": late[-1], "share": share,
        "missed": missed,
    }  # fmt: skip


def ticking(_servers: str, records: int) -> dict[str, float]:
    """Nothing but the schedule's tick, for as long: how late this machine wakes up who sleeps, and what that costs."""
    go_first()
    began, used = time.perf_counter(), cpu()
    late: list[float] = []
    while (now := time.perf_counter()) - began < records / 10_000:
        time.sleep(TICK)
        late.append((time.perf_counter() - now - TICK) * 1e3)
    late.sort()
    share = (cpu() - used) / (time.perf_counter() - began)
    return {"p50": late[len(late) // 2], "p99": late[len(late) * 99 // 100], "max": late[-1], "share": share}


def consume_loop(servers: str, records: int) -> dict[str, float]:
    """``consume(500)`` in a loop, its messages dropped."""
    client = Consumer({"bootstrap.servers": servers, "group.id": "loop", "enable.auto.commit": False})
    client.assign([TopicPartition(TOPIC, number, 0) for number in range(PARTITIONS)])
    while not client.consume(1, 1):
        pass
    again = Rewind(client)
    watch, got = Stopwatch(), 0
    while got < records:
        got += len(client.consume(500, 0.1))
        again.at(got)
    return watch.result(got)


def consume_probe(servers: str, records: int) -> dict[str, float]:
    """The probe: every record decoded and checked, every delivery and poll logged."""
    probe = Consume.model_validate({"topic": TOPIC, "assign": "all", "start": "beginning"})
    with place(servers) as (at, stop):
        working = ConsumeLoop(probe, at)
        again = Rewind(working._client)  # noqa: SLF001
        watches: list[Stopwatch] = []

        def enough() -> bool:
            got = working._reads.rows  # noqa: SLF001
            if got and not watches:
                watches.append(Stopwatch())
            again.at(got)
            return got >= records

        stop.append(enough)
        working.run()
        return watches[0].result(working._reads.rows)  # noqa: SLF001


class Rewind:
    """Lets a consumer read the same records over and over: a mock topic keeps few."""

    def __init__(self, client: Consumer) -> None:
        self._client, self._next = client, KEPT * PARTITIONS - 1000  # some are dropped before the count begins

    def at(self, got: int) -> None:
        """Seek to the beginning when all has been read once more."""
        if got >= self._next:
            self._next = got + KEPT * PARTITIONS - 1000
            for number in range(PARTITIONS):
                self._client.seek(TopicPartition(TOPIC, number, 0))


@contextmanager
def place(servers: str) -> Iterator[tuple[Workplace, list[Callable[[], bool]]]]:
    """A workplace with a real log, and a list that takes what ends the probe."""
    stop: list[Callable[[], bool]] = []
    gc.collect()  # as the process of every probe does
    gc.freeze()
    gc.disable()
    with tempfile.TemporaryDirectory() as folder, LiveLog(Path(folder) / "live") as log:
        client = {"bootstrap.servers": servers, "log_level": 3}
        yield (
            Workplace("bench", "bench", 1, client, log, lambda: any(each() for each in stop), lambda _state: None),
            stop,
        )


VARIANTS = {
    "produce, no callback": produce_no_callback,
    "produce, empty callback": produce_empty_callback,
    "probe produce": produce_probe,
    "consume(500), nothing done": consume_loop,
    "probe consume": consume_probe,
}


# --- rounds -----------------------------------------------------------------------------------------------------------


def mock_cluster() -> None:
    """Keep a mock cluster, filled with records to read, until stdin ends."""
    keeper = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "mock", "log_level": 2})
    brokers = keeper.list_topics(TOPIC, timeout=10).brokers.values()
    servers = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    print(servers, flush=True)
    sys.stdin.read()


def fill(servers: str) -> None:
    """Write what the consumers read."""
    writer = Producer({"bootstrap.servers": servers, **CONFIG})
    for seq in range(KEPT * PARTITIONS):
        writer.produce(TOPIC, encode("bench", Payload("bench", 0, seq, seq), 100), partition=seq % PARTITIONS)
    writer.flush()


@contextmanager
def cluster() -> Iterator[str]:
    """A mock cluster in a process of its own."""
    command = [sys.executable, __file__, "--mock"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101
        yield process.stdout.readline().strip()
        assert process.stdin is not None  # noqa: S101
        process.stdin.close()


def measure(variant: str, records: int) -> dict[str, float]:
    """One variant in a process of its own, on a cluster of its own: a mock's log only grows."""
    with cluster() as servers:
        if "consume" in variant:
            fill(servers)
        command = [sys.executable, __file__, "--variant", variant, "--servers", servers, "--records", str(records)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def main() -> None:
    """Measure every variant, and print figures and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=5)
    for hidden in ("--variant", "--servers"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--mock", action="store_true", help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.mock:
        mock_cluster()
    elif words.variant:
        known = {**VARIANTS, "schedule": produce_schedule, "ticking": ticking}
        print(json.dumps(known[words.variant](words.servers, words.records)))
    else:
        rounds(words.records, words.rounds)


def rounds(records: int, count: int) -> None:
    """All variants, interleaved, and the table of their medians."""
    seen: dict[str, list[dict[str, float]]] = {name: [] for name in VARIANTS}
    for _ in range(count):
        for name in VARIANTS:
            seen[name].append(measure(name, records))
    print(f"{'':28}{'k records/s':>12}{'CPU µs/record':>15}")
    middle = {
        name: {key: statistics.median(each[key] for each in runs) for key in runs[0]} for name, runs in seen.items()
    }
    for name, each in middle.items():
        print(f"{name:28}{each['rate'] / 1000:12.0f}{each['cpu']:15.2f}")
    rate, used = ({name: each[key] for name, each in middle.items()} for key in ("rate", "cpu"))
    empty, bare, unread = "produce, empty callback", "produce, no callback", "consume(500), nothing done"
    print(f"probe / empty callback   {rate['probe produce'] / rate[empty]:.2f}  (goal 0.75)")
    print(f"probe / no callback      {rate['probe produce'] / rate[bare]:.2f}  (goal 0.45)")
    print(f"CPU probe / empty        {used['probe produce'] / used[empty]:.2f}  (goal 1.3 at most)")
    print(f"probe / consume(500)     {rate['probe consume'] / rate[unread]:.2f}  (goal 0.50)")
    for name, says in (("ticking", "ticks that do nothing"), ("schedule", "10,000/s (goals 1.5 ms, 10 %)")):
        found = measure(name, 50_000)
        print(
            f"{says:30} late p50 {found['p50']:.2f} ms, p99 {found['p99']:.2f} ms, max {found['max']:.2f} ms; "
            f"{found['share']:.0%} of a core"
        )
        if missed := found.get("missed"):
            print(f"missed slots: {missed:.0f} (goal 0)")


if __name__ == "__main__":
    main()
