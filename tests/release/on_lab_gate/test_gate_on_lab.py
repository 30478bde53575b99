"""`chaosk gate` on a real lab: a folder to its end, and gates that are interrupted, killed and continued."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gates_on_lab import CUT, end, folder_of, is_cut, read_until, records
from junitparser import JUnitXml
from on_lab import until
from pyarrow import parquet

from chaosk.campaign.gate.record import Gate, load
from chaosk.run.standby import VARIABLE

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900), pytest.mark.long]

SCENARIOS = Path(__file__).parents[3] / "scenarios"
THREE = ("dead-letter", "swallowed-message", "zookeeper-leader-stop")


@pytest.fixture
def gate(lab_inventory: Path, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `chaosk gate` in a folder of its own; whatever it leaves is halted."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str | Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "chaosk", "gate", *map(str, words)]
        if "--continue" not in words:
            command += ["--inventory", str(lab_inventory), "--output", str(tmp_path / "gates")]
        settings = {**os.environ, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings, start_new_session=True)
        started.append(process)
        return process

    yield begin
    end(started)
    halt = [sys.executable, "-m", "chaosk", "halt", "--inventory", str(lab_inventory)]
    subprocess.run(halt, capture_output=True, timeout=300, check=True)


def test_a_folder_of_three(
    gate: Callable[..., subprocess.Popen[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One command, unattended: all three pass, one of them because it fails as predicted; all is healed and told.

    What a consumer gave up on without a dead letter is named message by message, and what has one is not.

    One analysis judged them all, the gate's own, and nothing went wrong in it.
    """
    monkeypatch.delenv(VARIABLE, raising=False)
    folder = tmp_path / "scenarios" / "nested"
    folder.mkdir(parents=True)
    for name in THREE:
        shutil.copy(next(SCENARIOS.rglob(f"{name}.yaml")), folder)
    process = gate(tmp_path / "scenarios")
    out, _ = process.communicate(timeout=800)
    assert process.returncode == 0, out
    place = folder_of(tmp_path / "gates")
    told = load(place)
    assert [Path(one.file).stem for one in told.attempts] == list(THREE)
    assert {(one.state, one.exit_code) for one in told.attempts} == {("done", 0)}
    assert {one.cluster for one in told.attempts} == {"3 brokers, 3 ZooKeeper nodes"}
    assert {record.healed for record in records(place)} == {True}
    dead_letters_are_there(place / (told.attempts[0].folder or ""))
    swallowed_are_named(place / (told.attempts[1].folder or ""))
    figures = {one.metric: one.value for one in told.attempts[2].figures}
    assert (figures["acknowledged_records"] or 0) > 1000
    assert "unavailability" in figures
    judged = [path.read_text("utf-8") for path in place.glob("runs/**/analysis.log")]
    assert [said.partition(":")[0] for said in judged] == ["the analysis that stood by"] * 3
    assert not [said for said in judged if "gave no answer" in said]
    assert (place / "analysis.log").read_text("utf-8") == ""
    suite = JUnitXml.fromfile(str(place / "junit.xml"))
    assert (suite.failures, suite.errors, suite.skipped) == (0, 0, 0)
    assert "3 of 3 runs passed" in (place / "gate.md").read_text("utf-8")
    assert out.splitlines()[-1] == f"report: {place / 'gate.html'}"


def rows(run: Path, table: str) -> list[dict[str, Any]]:
    """An event table of a run."""
    read: list[dict[str, Any]] = parquet.read_table(run / "events" / f"{table}.parquet").to_pylist()
    return read


def swallowed_are_named(run: Path) -> None:
    """B3, a violation and predicted: ten attempts at every five-hundredth message, and then it was committed past."""
    verdict = json.loads((run / "verdict.json").read_text("utf-8"))
    assert (verdict["found"], verdict["expected"], verdict["verdict"]) == ("violation", "violation", "pass")
    (finding,) = [each for each in verdict["findings"] if each["check"] == "swallowed"]
    assert (finding["rule"], finding["severity"]) == ("B3", "violation")
    lines = (run / "evidence" / "swallowed.jsonl").read_text("utf-8").splitlines()
    swallowed = [json.loads(line) for line in lines]
    assert len(swallowed) == finding["count"] >= 3
    assert {row["seq"] for row in swallowed} == {row["seq"] for row in rows(run, "sends") if row["seq"] % 500 == 499}
    assert all((row["attempts"], row["handling"]) == (10, "swallow") for row in swallowed)
    assert all(row["offset"] < row["committed"] for row in swallowed)


def dead_letters_are_there(run: Path) -> None:
    """Near miss of B3: committed past after three attempts, and each has its letter in the log."""
    given_up = {(row["partition"], row["offset"]) for row in rows(run, "failures") if row["handling"] == "dead_letter"}
    inputs = {(row["incarnation"], row["seq"]): (row["partition"], row["offset"]) for row in rows(run, "outputs")}
    there = {
        inputs[row["producer_incarnation"], row["seq"]] for row in rows(run, "audit") if row["topic"] == "orders-dead"
    }
    assert len(given_up) >= 10
    assert given_up <= there


def test_interrupted_killed_and_continued(
    gate: Callable[..., subprocess.Popen[str]], lab_inventory: Path, tmp_path: Path
) -> None:
    """Ctrl-C ends and heals the run. Killed outright the gate can do neither, and its run does both all the same.

    What listened to it is gone as well then. Continued, the gate runs what it has not, and only that.
    """
    (tmp_path / "cut.yaml").write_text(CUT, "utf-8")
    first = gate(tmp_path / "cut.yaml")
    read_until(first, "cut: verified")
    first.send_signal(signal.SIGINT)
    out, _ = first.communicate(timeout=300)
    assert first.returncode == 130, out
    place = folder_of(tmp_path / "gates")
    assert not is_cut(lab_inventory)
    assert [(one.state, one.exit_code) for one in load(place).attempts] == [("broken off", 130)]
    assert f"go on with: chaosk gate --continue {place}" in out

    second = gate("--continue", place)
    read_until(second, "cut: verified")
    assert is_cut(lab_inventory)
    second.kill()
    second.wait()
    assert second.stdout is not None
    second.stdout.close()
    until(lambda: not is_cut(lab_inventory), 20.0)
    until(lambda: len(records(place)) == 2, 60.0)
    assert [(record.interrupted, record.healed) for record in records(place)] == [(True, True), (True, True)]

    third = gate("--continue", place)
    out, _ = third.communicate(timeout=600)
    assert third.returncode == 0, out
    done: Gate = load(place)
    assert [(one.state, one.exit_code) for one in done.attempts] == [("done", 0)]
    assert len(records(place)) == 3
    assert done.why_ended is None
