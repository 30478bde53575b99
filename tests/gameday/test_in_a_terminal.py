"""The game day in a terminal emulator: keys in, screen out, on a cluster of values; the program is the real one."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from gameday.emulator import Emulator

from chaosk.core.errors import ExitCode

pytestmark = [pytest.mark.timeout(180), pytest.mark.long]

SCENARIO = """\
name: A day
hypothesis: It is survived.
topics: {orders: {partitions: 3}}
probes: {writer: {produce: {topic: orders}}, reader: {consume: {topic: orders, group: readers}}}
baseline: 0s
settle: 0s
timeline:
  - {name: freeze, at: 0s, pause_broker: {target: "leader(orders, 1)"}, for: FOR}
  - {name: second, at: 1s, pause_broker: {target: broker 0}, for: 100ms}
"""
QUESTION = "freeze: pause_broker"
SECOND = "second: pause_broker"
IN_PLACE = "in place, ends in"
"""What the timeline says of a fault that is there; `none in place` is what stands where there is none."""


@dataclass
class Day:
    """One game day under way."""

    terminal: Emulator
    folder: Path

    def done(self, what: str) -> int:
        """How often a host was told something, like ``STOP``."""
        notes = self.folder / "notes"
        return (
            sum(f" {what}" in line or f"'{what}'" in line for line in notes.read_text("utf-8").splitlines())
            if notes.exists()
            else 0
        )

    def read(self, name: str) -> Any:
        """A document of its run directory."""
        (path,) = self.folder.glob(f"reports/*/*/{name}")
        text = path.read_text("utf-8")
        return json.loads(text) if name.endswith(".json") else text

    def decisions(self) -> list[tuple[str, str | None]]:
        """What was decided, and about which entry."""
        import pyarrow.parquet as pq

        (path,) = self.folder.glob("reports/*/*/events/decisions.parquet")
        return [(row["what"], row["entry"]) for row in pq.read_table(path).to_pylist()]


def command(folder: Path, *options: str, lasts: str = "60s") -> list[str]:
    """The program's words for a game day."""
    (folder / "day.yaml").write_text(SCENARIO.replace("FOR", lasts), "utf-8")
    words = [sys.executable, str(Path(__file__).with_name("at_work.py")), "run", str(folder / "day.yaml"), "--game-day"]
    return [*words, "--operator", "anna", "--output", str(folder / "reports"), *options]


def environment(folder: Path) -> dict[str, str]:
    """What the program finds in its environment."""
    return {"CHAOSK_NOTES": str(folder / "notes"), "PYTHONPATH": ":".join(sys.path)}


@pytest.fixture
def day(tmp_path: Path) -> Iterator[Callable[..., Day]]:
    """Begins a game day; what still runs at the end is killed."""
    with ExitStack() as stack:

        def begin(*options: str, lasts: str = "60s", **how: Any) -> Day:
            terminal = Emulator(command(tmp_path, *options, lasts=lasts), environment(tmp_path), **how)
            return Day(stack.enter_context(terminal), tmp_path)

        yield begin


def test_go_note_and_skip_land_in_the_report(day: Callable[..., Day]) -> None:
    """The question shows target, commands and undo; go acts, skip does not, and who said so when is in the report."""
    today = day(lasts="1s")
    shown = today.terminal.shows(QUESTION)
    for part in ("on broker 1 on node2", "STOP", "undo", "CONT", "lease", "lasts 1s", "g go", "h heal and stop"):
        assert part in shown
    assert today.done("STOP") == 0, "nothing is done before the answer"
    today.terminal.press("nI look at the pager\r")
    today.terminal.answer("g", "note: I look at the pager")
    today.terminal.answer("s", SECOND)
    assert today.terminal.finish() == ExitCode.INCONCLUSIVE
    assert (today.done("STOP"), today.done("CONT") > 0) == (1, True)
    assert today.decisions() == [("note", "freeze"), ("go", "freeze"), ("skip", "second")]
    assert [(end["entry"], end["status"]) for end in today.read("run.json")["entries"]] == [
        ("freeze", "done"), ("second", "skipped"),
    ]  # fmt: skip
    for page in ("report.html", "report.md"):
        text = today.read(page)
        assert "I look at the pager" in text
        assert text.count("anna") >= 3
    assert today.terminal.settings_now() == today.terminal.settings, "the terminal must be as it was"
    assert today.terminal.raw.rfind(b"\x1b[?1049l") > today.terminal.raw.rfind(b"\x1b[?1049h")
    assert "second: skipped by anna" in today.terminal.text, "what was said is on the screen that is left"


def test_h_heals_at_once_also_on_a_terminal_that_has_become_too_small(day: Callable[..., Day]) -> None:
    """In the middle of a fault: undone at once, exit code 130, and the record says who. A resize crashes nothing."""
    today = day()
    today.terminal.answer("g", QUESTION)
    shown = today.terminal.shows(IN_PLACE)
    assert "lease" in shown
    today.terminal.resize(40, 10)
    today.terminal.shows("too small: 40x10")
    today.terminal.resize(120, 40)
    today.terminal.shows("h heal now")
    today.terminal.resize(40, 10)
    began = time.monotonic()
    today.terminal.press("h")
    assert today.terminal.finish(20) == ExitCode.INTERRUPTED
    assert time.monotonic() - began < 10
    assert today.done("CONT") > 0
    record = today.read("run.json")
    assert record["healed"]
    assert record["interrupted"]
    assert record["error"].startswith("interrupted by anna")
    assert today.terminal.settings_now() == today.terminal.settings, "the terminal must be as it was"
    assert ("stop", "second") in today.decisions() or ("stop", None) in today.decisions()


def test_h_heals_and_stops_at_a_question(day: Callable[..., Day]) -> None:
    """Nothing is injected; q asks first and goes on unless the answer is yes; letters of a note are no commands."""
    today = day()
    today.terminal.shows(QUESTION)
    today.terminal.press("q")
    today.terminal.shows("heal everything and end the run?")
    today.terminal.press("x")
    today.terminal.press("nshhhg")
    today.terminal.shows("note> shhhg")
    today.terminal.press("\x1b")
    today.terminal.shows("g go")
    assert today.terminal.process.poll() is None
    today.terminal.press("h")
    assert today.terminal.finish(20) == ExitCode.INTERRUPTED
    assert today.done("STOP") == 0
    assert today.decisions() == [("stop", "freeze")]


def test_q_and_yes_heals_and_stops(day: Callable[..., Day]) -> None:
    """The same road to the end."""
    today = day()
    today.terminal.answer("g", QUESTION)
    today.terminal.shows(IN_PLACE)
    today.terminal.press("qy")
    assert today.terminal.finish(20) == ExitCode.INTERRUPTED
    assert (today.done("STOP"), today.done("CONT") > 0) == (1, True)


def test_a_question_that_nobody_answers_ends_the_run(day: Callable[..., Day]) -> None:
    """An operator who walks away while a fault is in place: it is healed, nothing more is injected."""
    today = day("--answer-within", "2s")
    today.terminal.answer("g", QUESTION)
    today.terminal.shows(SECOND)
    assert today.terminal.finish(30) == ExitCode.INTERRUPTED
    assert (today.done("STOP"), today.done("CONT") > 0) == (1, True)
    assert today.decisions() == [("go", "freeze"), ("unanswered", "second")]
    assert "no answer within 2 s" in today.read("run.json")["error"]


@pytest.mark.parametrize("controlling", [True, False], ids=["SIGHUP", "end of file"])
def test_a_lost_connection_heals(day: Callable[..., Day], *, controlling: bool) -> None:
    """The terminal goes away in the middle of a fault: healed, verified, written down, exit code 130."""
    today = day(controlling=controlling)
    today.terminal.answer("g", QUESTION)
    today.terminal.shows(IN_PLACE)
    today.terminal.hang_up()
    assert today.terminal.finish(20) == ExitCode.INTERRUPTED
    assert today.done("CONT") > 0
    assert any(what == "lost" for what, _ in today.decisions())
    assert today.read("run.json")["healed"]


def test_ctrl_c_is_the_operators_too(day: Callable[..., Day]) -> None:
    """It heals as ever, at a note as well, and the record says who it was."""
    today = day()
    today.terminal.answer("g", QUESTION)
    today.terminal.shows(IN_PLACE)
    today.terminal.press("nhm")
    today.terminal.shows("note> hm")
    today.terminal.press("\x03")
    assert today.terminal.finish(20) == ExitCode.INTERRUPTED
    assert today.done("CONT") > 0
    assert "anna" in today.read("run.json")["error"]


def test_a_run_that_is_told_to_end_puts_the_terminal_back(day: Callable[..., Day]) -> None:
    """SIGTERM, from a supervisor: it heals, and it was not the operator."""
    today = day()
    today.terminal.answer("g", QUESTION)
    today.terminal.shows(IN_PLACE)
    today.terminal.process.terminate()
    assert today.terminal.finish(20) == ExitCode.INTERRUPTED
    assert today.done("CONT") > 0
    assert today.terminal.settings_now() == today.terminal.settings
    assert "interrupted" in today.terminal.text
    assert today.decisions() == [("go", "freeze")]


@pytest.mark.parametrize("size", [(79, 24), (80, 23)])
def test_a_terminal_that_is_too_small_is_refused(day: Callable[..., Day], size: tuple[int, int]) -> None:
    """Before anything is touched, with what to do."""
    today = day(size=size)
    assert today.terminal.finish(20) == ExitCode.USAGE
    assert f"needs a terminal of 80x24, and this one has {size[0]}x{size[1]}" in today.terminal.raw.decode()
    assert not (today.folder / "reports").exists()
    assert not (today.folder / "notes").exists()


def test_what_is_no_terminal_is_refused(tmp_path: Path) -> None:
    """A pipe or a job of CI: nobody could answer."""
    ended = subprocess.run(
        command(tmp_path), env=environment(tmp_path) | {"TERM": "xterm"}, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == ExitCode.USAGE
    assert "needs a terminal" in ended.stderr
    assert not (tmp_path / "notes").exists()
