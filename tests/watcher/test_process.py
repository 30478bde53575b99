"""The watcher's process against librdkafka's mock cluster: its life, and what it does when things go wrong."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_live import inventory
from fake_servers import mock_cluster, server, silent, unused_port

from chaosk.cluster.wire import Endpoint
from chaosk.core.errors import StepError
from chaosk.run.watcher.process import WatcherProcess
from chaosk.run.watcher.spec import WatcherSpec
from chaosk.rundir.events.live import read_live
from chaosk.spec.inventory import Inventory, Listener


def at(places: dict[int, Endpoint]) -> Inventory:
    """An inventory of brokers that answer there."""
    place = inventory(1, 0)
    brokers = {
        number: place.brokers[0].model_copy(
            update={"listeners": {"CLIENT": Listener(address=where.address, port=where.port)}}
        )
        for number, where in places.items()
    }
    return place.model_copy(update={"brokers": brokers})


@pytest.fixture
def places() -> Iterator[dict[int, Endpoint]]:
    """Two brokers that answer, one that hangs, one that is dead; a topic `orders`."""
    with mock_cluster(2) as (producer, found), server(silent) as hanging:
        producer.produce("orders", b"x")
        producer.flush(5)
        yield {**found, 8: hanging, 9: Endpoint("", "127.0.0.1", unused_port())}


def start(places: dict[int, Endpoint], folder: Path) -> WatcherProcess:
    """A watcher of `orders`."""
    spec = WatcherSpec(inventory=at(places), topics=("orders",), folder=str(folder / "live"))
    return WatcherProcess(spec, folder / "watcher.json")


def until(holds: Callable[[], bool], within: float = 30.0) -> None:
    """Wait until it holds; starting a process can take seconds where others work on the machine."""
    deadline = time.monotonic() + within
    while not holds():
        assert time.monotonic() < deadline, "never came true"
        time.sleep(0.05)


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    """The events of a table so far."""
    return list(read_live(folder / "live" / f"{table}.arrows").table.to_pylist())


def test_watches_until_it_is_stopped(places: dict[int, Endpoint], tmp_path: Path) -> None:
    """It samples every broker, says how each is, and ends cleanly with all streams closed."""
    watcher = start(places, tmp_path)
    until(lambda: (state := watcher.state()) is not None and state.silent == (8, 9) and len(state.topics) == 1)
    until(lambda: any(one["asked"] == 8 for one in rows(tmp_path, "brokers")))
    watcher.stop()
    assert not watcher.running
    for table in ("brokers", "partitions", "offsets", "clocks"):
        found = read_live(tmp_path / "live" / f"{table}.arrows")
        assert found.closed
        assert found.table.num_rows > 0
    asked = rows(tmp_path, "brokers")
    assert {one["asked"] for one in asked if one["error"] is None} == {1, 2}
    assert 8 in {one["asked"] for one in asked if "no answer" in (one["error"] or "")}
    assert {one["asked"] for one in asked if "refused" in (one["error"] or "")} == {9}


def test_says_why_it_ended(places: dict[int, Endpoint], tmp_path: Path) -> None:
    """A watcher that cannot write its events ends, and its words reach whoever stops it."""
    (tmp_path / "live").mkdir()
    (tmp_path / "live" / "brokers.arrows").touch()
    watcher = start(places, tmp_path)
    until(lambda: not watcher.running)
    with pytest.raises(StepError, match=r"the watcher ended with \d+: watcher: .*contains events already"):
        watcher.stop()


def test_ends_when_its_stdin_is_closed(places: dict[int, Endpoint], tmp_path: Path) -> None:
    """Whoever started it and is gone, however it went, takes the watcher along."""
    watcher = start(places, tmp_path)
    until(lambda: watcher.state() is not None)
    assert watcher._process.stdin is not None
    watcher._process.stdin.close()
    until(lambda: not watcher.running)
    watcher.stop()
    assert read_live(tmp_path / "live" / "brokers.arrows").closed


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read: No such file"), ("{}", "not a watcher's specification"), ("[", "not a watcher's")],
)
def test_a_bad_specification_is_one_clear_error(tmp_path: Path, content: str | None, words: str) -> None:
    """No traceback: what is wrong, and with which file."""
    file = tmp_path / "spec.json"
    if content is not None:
        file.write_text(content, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "chaosk.run.watcher", str(file)],
        stdin=subprocess.PIPE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 64
    assert words in done.stderr
    assert "Traceback" not in done.stderr
