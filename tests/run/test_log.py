"""The run's log: JSON lines in a file, and a full disk is no reason to fail."""

from __future__ import annotations

import json
from pathlib import Path

import structlog

from chaosk.run.log import logging_to


def test_what_is_logged_is_one_json_object_a_line(tmp_path: Path) -> None:
    """With its time, its level and its fields."""
    path = tmp_path / "log.jsonl"
    with logging_to(path):
        structlog.get_logger().info("fault", entry="kill-1", targets=("broker 1",))
    (line,) = path.read_text("utf-8").splitlines()
    event = json.loads(line)
    assert (event["event"], event["level"], event["entry"], event["targets"]) == (
        "fault", "info", "kill-1", ["broker 1"],
    )  # fmt: skip
    assert event["timestamp"].endswith("Z")


def test_a_module_s_logger_made_before_writes_there_too(tmp_path: Path) -> None:
    """Loggers are made at import; they must not keep what was configured then."""
    log = structlog.get_logger()
    with logging_to(tmp_path / "a.jsonl"):
        log.info("one")
    with logging_to(tmp_path / "b.jsonl"):
        log.info("two")
    assert json.loads((tmp_path / "b.jsonl").read_text())["event"] == "two"
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 1


def test_a_full_disk_is_no_reason_to_fail() -> None:
    """/dev/full takes nothing: the program that heals goes on."""
    with logging_to(Path("/dev/full")):
        structlog.get_logger().info("undo", fault="cut-1")


def test_nothing_is_printed_outside_of_a_run(capsys: object) -> None:
    """A library that logs to the terminal by itself would spoil every other output."""
    with logging_to(Path("/dev/null")):
        pass
    structlog.get_logger().info("nobody listens")
    import pytest

    assert isinstance(capsys, pytest.CaptureFixture)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
