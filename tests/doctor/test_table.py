"""Findings as a table and as JSON: nothing is lost, and nothing in them is taken for markup."""

from __future__ import annotations

import json

from rich.console import Console

from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok, warning
from chaosk.run.preflight.table import as_json, table, to_do

FOUND = (
    ok("node1", "login", "ops"),
    warning("node1", "shell", "slow", "see ~/.bashrc"),
    bad("node2", "tools", "there is no [bold]awk[/bold]", "install mawk"),
)


def drawn(findings: tuple[Diagnostic, ...]) -> str:
    """What a terminal shows."""
    console = Console(width=100, highlight=False, no_color=True)
    with console.capture() as text:
        console.print(table(findings))
        for line in to_do(findings):
            console.print(line)
    return text.get()


def test_every_finding_is_a_row_and_every_remedy_a_line() -> None:
    """The place is named once; what is bad comes first among what is to be done."""
    text = drawn(FOUND)
    assert text.count("node1") == 2, "its row, and its remedy"
    assert text.index("node2, tools: install mawk") < text.index("node1, shell: see ~/.bashrc")
    assert "No run may start until every bad finding is fixed." in text


def test_what_a_host_says_is_no_markup() -> None:
    """Words in brackets come out as they went in."""
    assert "there is no [bold]awk[/bold]" in drawn(FOUND)


def test_a_warning_does_not_keep_a_run_from_starting() -> None:
    """And the last line says so."""
    assert drawn(FOUND[:2]).rstrip().endswith("A run may start.")


def test_json_holds_all_there_is() -> None:
    """For other programs: the same findings, and the verdict on them."""
    found = json.loads(as_json("mine", FOUND))
    assert (found["cluster"], found["fit"]) == ("mine", False)
    assert tuple(Diagnostic.model_validate(one) for one in found["findings"]) == FOUND
    assert json.loads(as_json("mine", FOUND[:2]))["fit"]
