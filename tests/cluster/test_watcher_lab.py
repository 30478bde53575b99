"""The watcher on a real cluster: every broker at 5 Hz or better, whatever happens to one of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from chaosk.run.watcher.process import WatcherProcess
from chaosk.run.watcher.spec import WatcherSpec
from chaosk.rundir.events.live import read_live
from chaosk.spec.scenario import Topic

pytestmark = [pytest.mark.lab, pytest.mark.long]

SHAPE = Topic(partitions=3, config={"min.insync.replicas": 2})


@pytest.fixture
def watch(cluster: Any, tmp_path: Path) -> Callable[[], WatcherProcess]:
    """Starts a watcher of `orders` whose events go to `live`."""

    def start() -> WatcherProcess:
        spec = WatcherSpec(inventory=cluster.inventory, topics=("orders",), folder=str(tmp_path / "live"))
        watcher = WatcherProcess(spec, tmp_path / "watcher.json")
        deadline = time.monotonic() + 20
        while (state := watcher.state()) is None or not state.topics:
            assert time.monotonic() < deadline, watcher.last_words()
            time.sleep(0.05)
        return watcher

    return start


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    """The events of a table."""
    found = read_live(folder / "live" / f"{table}.arrows")
    assert found.torn is None
    return list(found.table.to_pylist())


def longest_gap(samples: list[dict[str, Any]], since: int, until: int) -> float:
    """Seconds without a sample, at most, in a stretch of time."""
    times: list[int] = [since, *sorted(one["at"] for one in samples if since <= one["at"] <= until), until]
    return max(after - before for before, after in pairwise(times)) / 1e9


def test_sees_everything_of_a_whole_cluster(cluster: Any, watch: Any, tmp_path: Path) -> None:
    """All tables fill, at the rates that are promised, with what is true."""
    cluster.prepare(orders=SHAPE)
    watcher = watch()
    producer = Producer({"bootstrap.servers": cluster.inventory.bootstrap_servers(), "log_level": 0})
    for number in range(30):
        producer.produce("orders", b"x", partition=number % 3)
    producer.flush(10)
    since = time.monotonic_ns()
    time.sleep(4)
    until = time.monotonic_ns()
    state = watcher.state()
    assert state is not None
    assert state.lines()[1] == "orders: leaders 0 1 2, ISR full"
    assert (state.alive, state.silent) == ((0, 1, 2), ())
    watcher.stop()
    partitions, offsets = rows(tmp_path, "partitions"), rows(tmp_path, "offsets")
    for broker in (0, 1, 2):
        mine = [one for one in partitions if one["asked"] == broker and one["partition"] == 0]
        assert sum(since <= one["at"] <= until for one in mine) >= 20, "5 a second for 4 seconds"
        assert longest_gap(mine, since, until) < 1.0
        last = [one for one in offsets if one["asked"] == broker][-3:]
        assert [(one["partition"], one["leader"], one["log_start"], one["log_end"]) for one in last] == [
            (number, number == broker, 0, 10) for number in range(3)
        ]
        (led,) = [one for one in last if one["leader"]]
        assert (led["high_watermark"], led["last_stable"]) == (10, 10)
        assert {one["high_watermark"] for one in last if not one["leader"]} == {None}
    modes = {one["node"]: one["mode"] for one in rows(tmp_path, "zookeepers")}
    assert sorted(modes.values()) == ["follower", "follower", "leader"]
    clocks = rows(tmp_path, "clocks")
    assert len(clocks) >= 5
    drift = {one["wall"] - one["monotonic"] for one in clocks}
    assert max(drift) - min(drift) < 1e9
    assert {one["error"] for one in rows(tmp_path, "brokers")} == {None}


def test_a_frozen_broker_stalls_nobody_else(cluster: Any, watch: Any, tmp_path: Path) -> None:
    """While one broker hangs its silence is written down, and the others are sampled as before."""
    cluster.prepare(orders=SHAPE)
    watcher = watch()
    with cluster.frozen(1):
        since = time.monotonic_ns()
        time.sleep(5)
        until = time.monotonic_ns()
        state = watcher.state()
        assert state is not None
        assert state.silent == (1,)
    time.sleep(1)
    watcher.stop()
    partitions, brokers = rows(tmp_path, "partitions"), rows(tmp_path, "brokers")
    for broker in (0, 2):
        mine = [one for one in partitions if one["asked"] == broker and one["partition"] == 0]
        assert sum(since <= one["at"] <= until for one in mine) >= 25, "5 a second for 5 seconds"
    silent = [one for one in brokers if one["asked"] == 1 and since + 5e8 <= one["invoked"] <= until - 15e8]
    assert len(silent) >= 3
    assert all("no answer within 1 s" in one["error"] for one in silent)
    assert [one["error"] for one in brokers if one["asked"] == 1][-1] is None, "and seen again when it is back"


def test_sees_leadership_move(cluster: Any, watch: Any, tmp_path: Path) -> None:
    """A kill is seen from the survivors: refused connections, then another leader at a newer epoch."""
    cluster.prepare(orders=SHAPE)
    watcher = watch()
    with cluster.killed(2):
        cluster.wait("leader_elected(orders)")
        time.sleep(1)
    time.sleep(1)
    watcher.stop()
    moved = [one for one in rows(tmp_path, "partitions") if one["partition"] == 2 and one["asked"] == 0]
    epochs = list(dict.fromkeys((one["leader"], one["leader_epoch"]) for one in moved))
    assert epochs[0] == (2, 0)
    assert [leader for leader, _ in epochs[-1:]] == [0]
    assert epochs[-1][1] > 0
    assert any("refused" in str(one["error"]) for one in rows(tmp_path, "brokers") if one["asked"] == 2)
    assert [2 in one["isr"] for one in moved][-1], "it came back into the ISR"


@pytest.mark.parametrize("how", ["parent", "watcher"])
def test_what_is_killed_leaves_its_events(cluster: Any, tmp_path: Path, how: str) -> None:
    """When its parent is killed the watcher ends by itself; when it is killed itself 100 ms are lost at most."""
    cluster.prepare(orders=SHAPE)
    spec = WatcherSpec(inventory=cluster.inventory, topics=("orders",), folder=str(tmp_path / "live"))
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom chaosk.run.watcher.process import WatcherProcess\n"
        "from chaosk.run.watcher.spec import WatcherSpec\n"
        "spec = WatcherSpec.model_validate_json(sys.argv[1])\n"
        "watcher = WatcherProcess(spec, Path(sys.argv[2]))\n"
        "while watcher.state() is None: time.sleep(0.05)\n"
        "print(watcher._process.pid, flush=True)\ntime.sleep(60)\n"
    )
    arguments = [sys.executable, "-c", script, spec.model_dump_json(by_alias=True), str(tmp_path / "watcher.json")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(1)
        killed = time.monotonic_ns()
        os.kill(parent.pid if how == "parent" else pid, signal.SIGKILL)
        parent.kill()
    deadline = time.monotonic() + 3
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(pid)
    found = read_live(tmp_path / "live" / "brokers.arrows")
    assert found.torn is None
    assert found.closed == (how == "parent")
    last = max(one["completed"] for one in found.table.to_pylist())
    assert (killed - last) / 1e9 < 0.5


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_states_are_json_lines(cluster: Any, tmp_path: Path) -> None:
    """Anybody can read the states: one JSON object a line, twice a second."""
    cluster.prepare(orders=SHAPE)
    spec = WatcherSpec(inventory=cluster.inventory, topics=("orders",), folder=str(tmp_path / "live"))
    (tmp_path / "spec.json").write_text(spec.model_dump_json(by_alias=True), "utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "chaosk.run.watcher", str(tmp_path / "spec.json")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        lines = [json.loads(process.stdout.readline()) for _ in range(4)]
        process.terminate()
        assert process.wait(30) == 0
    spacing = [(after["at"] - before["at"]) / 1e9 for before, after in pairwise(lines)]
    assert min(spacing) > 0.3
    assert sorted(spacing)[1] < 1.0
    assert lines[-1]["controller"] in (0, 1, 2)
