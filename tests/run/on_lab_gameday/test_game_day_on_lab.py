"""A game day on a real cluster, at a real terminal: keys in, screen out, hosts looked at from outside."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from gameday.emulator import Emulator

from chaosk.core.errors import ExitCode

pytestmark = [pytest.mark.lab, pytest.mark.timeout(400), pytest.mark.long]

SCENARIO = """\
name: A game day
hypothesis: It heals.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 100/s}}
  reader: {consume: {topic: orders, group: GROUP, commit: sync}}
baseline: 1s
settle: 2s
timeline:
  - {name: cut, at: 1s, cut_network: {between: [host(broker 1), everyone_else]}, for: FOR}
  - {name: freeze, after: cut, pause_broker: {target: broker 2}, for: 5s}
"""
QUESTION = "cut: cut_network"

Begin = Callable[..., Emulator]


@pytest.fixture
def begin(tmp_path: Path, lab_inventory: Path) -> Iterator[Begin]:
    """Begins a game day; what a broken test leaves on the hosts is healed."""
    with ExitStack() as stack:

        def work(lasts: str, *options: str) -> Emulator:
            text = SCENARIO.replace("FOR", lasts).replace("GROUP", f"readers-{secrets.token_hex(4)}")
            (tmp_path / "day.yaml").write_text(text, "utf-8")
            words = ["run", str(tmp_path / "day.yaml"), "--inventory", str(lab_inventory), "--game-day"]
            output = ["--operator", "anna", "--output", str(tmp_path / "reports"), *options]
            return stack.enter_context(Emulator([sys.executable, "-m", "chaosk", *words, *output], {}, (100, 30)))

        yield work
    halt = [sys.executable, "-m", "chaosk", "halt", "--inventory", str(lab_inventory)]
    subprocess.run(halt, capture_output=True, timeout=300, check=True)


def document(folder: Path, name: str) -> Any:
    """A JSON document of the run."""
    (path,) = folder.glob(f"reports/*/*/{name}")
    return json.loads(path.read_text("utf-8"))


def in_a_fault(terminal: Emulator) -> None:
    """Go ahead with the cut, and wait until it is verified."""
    terminal.shows(QUESTION, 120)
    terminal.answer("g", "g go")
    terminal.shows("cut: verified", 60)


def test_h_heals_the_cluster_at_once(begin: Begin, tmp_path: Path, rules_of: Callable[[str], str]) -> None:
    """In the middle of a cut: the hosts have the rules they had before, exit code 130, and the record says who."""
    before = rules_of("node2")
    terminal = begin("60s", "--watch-group", "nobody-is-in-this-one")
    terminal.shows(QUESTION, 120)
    assert rules_of("node2") == before, "nothing may be done before the answer"
    terminal.shows(" ms", 30)
    terminal.shows("Stable  1 member", 30)
    in_a_fault(terminal)
    assert rules_of("node2") != before, "the cut must be there, or this proves nothing"
    terminal.shows("in place", 10)
    terminal.press("h")
    assert terminal.finish(120) == ExitCode.INTERRUPTED
    assert rules_of("node2") == before
    record = document(tmp_path, "run.json")
    assert (record["healed"], record["not_healed"]) == (True, [])
    assert record["error"].startswith("interrupted by anna")


def test_a_lost_connection_heals_the_cluster(begin: Begin, tmp_path: Path, rules_of: Callable[[str], str]) -> None:
    """The terminal goes away in the middle of a cut."""
    before = rules_of("node2")
    terminal = begin("60s")
    in_a_fault(terminal)
    assert rules_of("node2") != before, "the cut must be there, or this proves nothing"
    terminal.hang_up()
    assert terminal.finish(120) == ExitCode.INTERRUPTED
    assert rules_of("node2") == before
    record = document(tmp_path, "run.json")
    assert record["healed"]
    assert "connection was lost" in record["error"]


def test_a_day_with_a_skipped_step_is_judged_and_told(begin: Begin, tmp_path: Path) -> None:
    """The cut is real and in the verdict, the skipped step is not: INCONCLUSIVE, with who decided what, when."""
    terminal = begin("3s")
    terminal.shows(QUESTION, 120)
    terminal.press("nthe pager is quiet\r")
    in_a_fault(terminal)
    terminal.answer("s", "freeze: pause_broker")
    assert terminal.finish(300) == ExitCode.INCONCLUSIVE
    verdict = document(tmp_path, "verdict.json")
    assert [fault["name"] for fault in verdict["faults"]] == ["cut"]
    assert any(guard["guard"] == "step_skipped" and "freeze" in guard["what"] for guard in verdict["guards"])
    told = [(one["who"], one["what"], one["entry"], one["text"]) for one in verdict["decisions"]]
    assert told == [
        ("anna", "note", "cut", "the pager is quiet"), ("anna", "go", "cut", None), ("anna", "skip", "freeze", None),
    ]  # fmt: skip
