"""A broker whose main process is a script around Java: what is frozen is Java, and nobody takes the script for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from run.test_run_on_lab import HEAD, guards

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600), pytest.mark.long]

RUN = """#!/bin/sh
echo $$ >/run/kafka/wrap.pid
export KAFKA_HEAP_OPTS=-Xmx320m
cd /
setpriv --reuid kafka --regid kafka --init-groups \\
    /opt/kafka/bin/kafka-run-class.sh kafka.Kafka /opt/kafka/config/server.properties >>/var/log/kafka/kafka.out 2>&1
echo ended
"""
START = """#!/bin/sh
p=$(cat /run/kafka/wrap.pid 2>/dev/null)
[ -z "$p" ] || [ ! -d "/proc/$p" ] || exit 0
setsid sh /opt/wrap/run.sh /opt/kafka/config/server.properties </dev/null >/dev/null 2>&1 &
sleep 0.3
"""
STOP = """#!/bin/sh
kill -TERM $(pgrep -P "$(cat /run/kafka/wrap.pid)")
"""
FREEZE = """\
timeline:
  - {name: frozen, at: 1s, pause_broker: {target: broker 1}, for: 12s}
"""


@pytest.fixture
def wrapped(lab_inventory: Path, on_host: Callable[..., str]) -> Iterator[Path]:
    """An inventory of the lab in which broker 1 is started by such a script; after the test it is as it was."""
    for name, text in (("run.sh", RUN), ("start", START), ("stop", STOP)):
        on_host(
            "node2",
            "sh",
            "-c",
            'mkdir -p /opt/wrap && printf %s "$1" >"$0" && chmod 755 "$0"',
            f"/opt/wrap/{name}",
            text,
        )
    on_host("node2", "/opt/kafka/bin/kafka-stop")
    on_host("node2", "sh", "-c", 'p=$(cat /run/kafka/kafka.pid); while [ -d "/proc/$p" ]; do sleep 0.2; done')
    on_host("node2", "/opt/wrap/start")
    document = yaml.safe_load(lab_inventory.read_text("utf-8"))
    document["brokers"]["1"]["service"] = {
        "start": ["/opt/wrap/start"], "stop": ["/opt/wrap/stop"], "pid_file": "/run/kafka/wrap.pid",
    }  # fmt: skip
    changed = lab_inventory.with_name("wrapped.yaml")  # beside its keys
    changed.write_text(yaml.safe_dump(document), "utf-8")
    yield changed
    changed.unlink()
    on_host("node2", "/opt/wrap/stop")
    on_host("node2", "sh", "-c", 'p=$(cat /run/kafka/wrap.pid); while [ -d "/proc/$p" ]; do sleep 0.2; done')
    on_host("node2", "rm", "-rf", "/opt/wrap", "/run/kafka/wrap.pid")
    on_host("node2", "/opt/kafka/bin/kafka-start")


def test_the_broker_is_frozen_and_not_the_script(
    start: Callable[..., Any], wrapped: Path, on_host: Callable[..., str]
) -> None:
    """While it is in place Java is stopped and the script is not; the writer feels it, and all goes on afterwards."""
    run = start(HEAD + FREEZE, "--inventory", str(wrapped))
    run.wait_for("frozen: verified")
    state = (
        "p=$(cat /run/kafka/wrap.pid); for i in $p $(pgrep -P $p); do sed 's/.*) \\(.\\) .*/\\1/' /proc/$i/stat; done"
    )
    assert on_host("node2", "sh", "-c", state).split() == ["S", "T"]
    assert run.finish() == 0, run.text
    verdict = run.read("verdict.json")
    assert guards(verdict) == ""
    gaps = [m["value"] for m in verdict["measures"] if (m["metric"], m["window"]) == ("unavailability", "run")]
    assert max(gaps) > 1, "a broker that leads is frozen: who writes to it must feel it"


KILL = """\
timeline:
  - {name: killed, at: 1s, kill_broker: {target: broker 1}, for: 12s}
"""


def test_the_broker_is_killed_and_the_script_learns_of_it_afterwards(
    start: Callable[..., Any], wrapped: Path, on_host: Callable[..., str]
) -> None:
    """While it lasts the script is stopped and has no server; then it ends, and the broker is started anew."""
    run = start(HEAD + KILL, "--inventory", str(wrapped))
    run.wait_for("killed: verified")
    script = on_host("node2", "cat", "/run/kafka/wrap.pid").strip()
    assert on_host("node2", "cut", "-d ", "-f3", f"/proc/{script}/stat").strip() == "T"
    assert run.finish() == 0, run.text
    assert guards(run.read("verdict.json")) == ""
    assert on_host("node2", "cat", "/run/kafka/wrap.pid").strip() != script
