"""The tutorial is about this program: its commands, options, files and variables exist. A lab's test types them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from tutorial.page import ROOT, Block, blocks, commands, not_shown

from chaosk.cli.main import cli
from chaosk.document import DocumentError, load_variants

pytestmark = pytest.mark.long

CHAOSK = [shlex.split(line.partition("./dev chaosk ")[2]) for line in commands() if "./dev chaosk " in line]
FILES = [block for block in blocks() if block.kind == "yaml"]


@pytest.mark.parametrize("words", CHAOSK, ids=" ".join)
def test_every_command_and_option_exists(words: list[str]) -> None:
    """The help of the subcommand names each option that the page uses."""
    names = [words[0], words[1]] if words[0] == "lab" else [words[0]]
    answer = CliRunner().invoke(cli, [*names, "--help"], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    known = set(re.findall(r"--[a-z]+", answer.output))
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("words", [words for words in CHAOSK if words[0] == "run"], ids=" ".join)
def test_every_scenario_has_the_variables_that_are_set(tmp_path: Path, words: list[str]) -> None:
    """The file is in the tree or in the page, and loads with the values that the page gives."""
    (tmp_path / FILES[-1].about).write_text(FILES[-1].text, "utf-8")
    path = next(path for path in (ROOT / words[1], tmp_path / words[1]) if path.exists())
    sets = [words[number + 1].partition("=") for number, word in enumerate(words) if word == "--set"]
    assert load_variants(path, {name: value for name, _, value in sets})


def test_the_unfinished_file_is_refused_and_the_finished_one_loads(tmp_path: Path) -> None:
    """The first has no timeline, which the page says; the last is a scenario, and grows out of the first."""
    first, last = (tmp_path / "first.yaml", tmp_path / "last.yaml")
    first.write_text(FILES[0].text, "utf-8")
    last.write_text(FILES[-1].text, "utf-8")
    with pytest.raises(DocumentError, match="timeline"):
        load_variants(first)
    assert [entry.name for entry in load_variants(last)[""].timeline] == ["stop", "whole"]
    assert set(FILES[0].text.splitlines()) <= set(FILES[-1].text.splitlines())


def test_every_block_is_told_what_it_is() -> None:
    """Commands have an exit code or none, files a name, and what is shown stands below commands."""
    before = Block("", "", "")
    for block in blocks():
        assert re.fullmatch({"sh": r"\d*", "yaml": r"[a-z-]+\.yaml", "text": ""}[block.kind], block.about)
        assert block.kind != "text" or before.kind == "sh"
        before = block


def test_what_is_shown_is_compared() -> None:
    """Numbers and dots stand for others; a word that was not printed, or not in that order, is missed."""
    printed = "a lab: 3 hosts\n\n  PASS   of 1,234 records none\nend"
    assert not_shown("a lab: 9 hosts\n…\nPASS of 99 … none", printed) == []
    assert not_shown("PASS of 1 records some", printed) == ["PASS of 1 records some"]
    assert not_shown("end\na lab: 3 hosts", printed) == ["a lab: 3 hosts"]
