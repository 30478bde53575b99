"""The runbook: all that a plan says, to be printed, in Markdown and HTML."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fake_live import inventory
from sample_documents import SCENARIO, VARIED, spoil, written

from chaosk.cli.main import main
from chaosk.core.errors import ExitCode


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    """An inventory file of three brokers."""
    text = inventory().model_dump_json(exclude_none=True, by_alias=True)
    brokers, zookeepers = text.split('"zookeepers"')
    unlike = zookeepers.replace("/run/pid", "/run/zookeeper.pid")
    return str(written(tmp_path, f'{brokers}"zookeepers"{unlike}', "inventory.yaml"))


def book(tmp_path: Path, name: str, *words: str, document: str = SCENARIO) -> str:
    """The text of a runbook."""
    path = tmp_path / name
    assert main(["plan", str(written(tmp_path, document)), "--runbook", str(path), *words]) == ExitCode.PASS
    return path.read_text("utf-8")


@pytest.mark.parametrize("name", ["day.md", "day.html"])
def test_it_has_all_that_has_to_be_in_the_hand(tmp_path: Path, cluster: str, name: str) -> None:
    """Hypothesis, cluster, each step with its trigger, target, commands and undo, boxes, roles, the way out."""
    document = spoil(SCENARIO, "settle: 20s\n", "settle: 20s\nstop_conditions: [{offline_partition: {lasting: 3s}}]\n")
    text = book(tmp_path, name, "--inventory", cluster, document=document)
    for part in (
        "Kill the leader", "0 on node1", "at 10s", "leader(orders, 0)", "chaosk kill script", "CONT", "lasting",
        "an example",
        "renewed while the run lives", "chaosk heal --inventory", "chaosk halt --inventory", "skip", "role",
        "The undo is complete when" if name.endswith(".md") else "<b>undo</b> is complete",
    ):  # fmt: skip
        assert part in text, part
    assert text.count("heal and stop") == 7, "a box for each step, rounds and all"


def test_without_an_inventory_it_has_no_commands(tmp_path: Path) -> None:
    """And says so by naming no cluster."""
    text = book(tmp_path, "day.md")
    assert "$ sudo" not in text
    assert "--inventory FILE" in text


def test_variants_are_one_behind_the_other(tmp_path: Path) -> None:
    """One file for the whole day."""
    assert book(tmp_path, "day.md", document=VARIED).count("# Runbook: ") == 3


def test_what_a_scenario_says_is_text(tmp_path: Path) -> None:
    """Not markup: neither HTML nor Markdown."""
    document = spoil(SCENARIO, "name: Kill the leader", "name: '<script>alert(1)</script> [x](http://y)'")
    assert "<script>" not in book(tmp_path, "day.html", document=document)
    page = re.sub(r"`[^`]*`", "", book(tmp_path, "day.md", document=document))  # a code span is text as it stands
    assert "<script>" not in page
    assert "[x](" not in page


def test_a_name_without_a_form_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is read."""
    assert main(["plan", str(tmp_path / "none.yaml"), "--runbook", str(tmp_path / "day.pdf")]) == ExitCode.USAGE
    assert "the suffix determines the format; use .md or .html" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With its path."""
    path = tmp_path / "none" / "day.md"
    assert main(["plan", str(written(tmp_path, SCENARIO)), "--runbook", str(path)]) == ExitCode.USAGE
    assert str(path) in capsys.readouterr().err
