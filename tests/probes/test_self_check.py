"""Real probes on a mock cluster count for themselves what their rows say: to the end, and when they are killed."""

from __future__ import annotations

import itertools
import random
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from selfcheck import disagreements, tallies_of

from chaosk.probes.consume import Consume
from chaosk.probes.produce import Produce
from chaosk.probes.transform import Transform
from chaosk.probes.worker.process import ProbeProcess
from chaosk.probes.worker.spec import WorkerSpec
from chaosk.rundir.events.writer_reports import writer_of
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Probe

Start = Callable[..., ProbeProcess]
_topics = (f"counted-{number}" for number in itertools.count())


@pytest.fixture
def start(tmp_path: Path, mock_cluster: str) -> Iterator[Start]:
    """Starts probes as processes, whose streams go below ``live``; kills what a test left running."""
    started: list[ProbeProcess] = []

    def begin(probe: Probe, name: str, incarnation: int = 0) -> ProbeProcess:
        kind = type(probe).__module__.rpartition(".")[2]
        fields = probe.model_dump(mode="json", by_alias=True)
        client: dict[str, Any] = {"bootstrap.servers": mock_cluster, "log_level": 3}
        live = str(tmp_path / "live" / writer_of(name, incarnation))
        spec = WorkerSpec(
            run_id="run-1", probe=name, incarnation=incarnation, kind=kind, fields=fields, client=client, live=live
        )
        started.append(ProbeProcess(spec))
        return started[-1]

    yield begin
    for process in started:
        if process.exit_status() is None:
            process.kill()


def until(process: ProbeProcess, reached: Callable[[ProbeState], bool], within: float = 60) -> None:
    """Wait for a state."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if reached(process.state()):
            return
        time.sleep(0.02)
    raise AssertionError(f"not reached: {process.state()} {process.last_words()}")


def has_done(records: int, state: ProbeState) -> bool:
    """Whether a probe has done so many records."""
    return state.ok > records


def writer(topic: str, rate: str = "2000/s", **config: Any) -> Produce:
    """A producer to a topic."""
    return Produce.model_validate({"topic": topic, "rate": rate, "config": config})


def reader(topic: str, **fields: Any) -> Consume:
    """A consumer of all of a topic."""
    return Consume.model_validate({"topic": topic, "assign": "all", "start": "beginning", **fields})


def application(topic: str) -> Transform:
    """An application that reads a topic in transactions, some of which it aborts."""
    transaction = {"records": 50, "abort_every": 3}
    return Transform.model_validate({"topic": topic, "to": f"{topic}-out", "group": topic, "transaction": transaction})


def test_probes_that_end_cleanly_agree_with_their_rows(start: Start, tmp_path: Path) -> None:
    """A producer, a consumer and an application in transactions: each figure of each, and nothing uncounted."""
    topic = next(_topics)
    producing, consuming = start(writer(topic), "writer"), start(reader(topic), "reader")
    transforming = start(application(topic), "app")
    for process, many in ((producing, 2500), (consuming, 2500), (transforming, 500)):
        until(process, partial(has_done, many))
    assert [process.stop(30) for process in (producing, transforming, consuming)] == [0, 0, 0]
    assert disagreements(tmp_path) == {("writer", 0): [], ("reader", 0): [], ("app", 0): []}
    tallies = tallies_of(tmp_path)
    assert tallies["reader", 0].reads >= 2500
    assert tallies["reader", 0].polls > 0
    assert {part.what for part in tallies["app", 0].figures} >= {"ok", "read", "answer", "poll"}


def test_failures_are_counted_too(start: Start, tmp_path: Path) -> None:
    """Records that the client refuses, or that nobody acknowledges in time: each with its outcome and latency."""
    config = {"queue.buffering.max.messages": 20, "linger.ms": 40, "message.timeout.ms": 60}
    process = start(writer(next(_topics), "3000/s", **config), "writer")
    until(process, lambda state: state.fail > 500 and state.ok > 50)
    assert process.stop(30) == 0
    assert disagreements(tmp_path) == {("writer", 0): []}
    latencies = tallies_of(tmp_path)["writer", 0].latencies
    assert sum(count for (what, _), count in latencies.items() if what == "fail") > 500


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))])
def test_a_kill_at_any_moment_leaves_a_tally_that_its_rows_bear_out(start: Start, tmp_path: Path, seed: int) -> None:
    """After SIGKILL the last tally of each is right, though more may have been written after it.

    Every other time beside a writer at full speed, which begins when all are at work: of what it writes the mock
    cluster keeps 5 MB, and whoever begins to read meanwhile may find nothing that is still there.
    """
    topic = next(_topics)
    probes = {"writer": writer(topic), "reader": reader(topic), "app": application(topic)}
    killed = {name: start(probe, name) for name, probe in probes.items()}
    for process in killed.values():
        until(process, partial(has_done, 100))
    if seed % 2:
        killed["fast"] = start(writer(topic, "as_fast_as_possible"), "fast")
        until(killed["fast"], partial(has_done, 100))
    waited = time.monotonic() + 1.5 + random.Random(seed).uniform(0, 1)  # noqa: S311 - a moment, no secret
    while time.monotonic() < waited or len(list((tmp_path / "live").glob("*/tallies.arrows"))) < len(killed):
        time.sleep(0.005)
    for process in killed.values():
        assert process.kill() == -signal.SIGKILL
    assert disagreements(tmp_path) == {(name, 0): [] for name in killed}
    tallies = tallies_of(tmp_path)
    assert all(sum(tallies[name, 0].latencies.values()) > 0 for name in killed.keys() & {"writer", "fast"})
    assert tallies["reader", 0].reads > 0


def test_a_lost_flush_is_seen(start: Start, tmp_path: Path) -> None:
    """A stream of rows that lost its end, as a full disk or a lost page would have it, does not agree any more."""
    process = start(writer(next(_topics)), "writer")
    until(process, lambda state: state.ok > 2500)
    assert process.stop(30) == 0
    stream = tmp_path / "live" / "writer-0" / "sends.arrows"
    stream.write_bytes(stream.read_bytes()[: stream.stat().st_size * 2 // 3])
    found = disagreements(tmp_path)["writer", 0]
    assert any("sends acknowledged" in each and "its rows are" in each for each in found), found
