"""The page of scripts: it is what the declarations say, and they are of all scripts that there are."""

from __future__ import annotations

from pathlib import Path

import opened
import pytest
from opened import DOES, EVERY, SCRIPTS, UNTRACED, entries
from scripts_table import page, purpose, shared_parts

from chaosk.hosts.scripts import PARTS

PAGE = Path(__file__).parents[1] / "docs" / "scripts.md"


def test_the_committed_page_is_current() -> None:
    """`python tests/scripts_table.py > docs/scripts.md` would change nothing."""
    assert PAGE.read_text("utf-8") == page()


def test_every_script_is_declared_and_the_gate() -> None:
    """Nothing is left out, and nothing is declared that is gone."""
    assert SCRIPTS.keys() == PARTS.keys() | {"gate"}
    assert opened._PARTS.keys() <= {each for parts in PARTS.values() for each in parts} | {"gate"}
    assert UNTRACED.keys() <= SCRIPTS.keys()


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_an_entry_says_all_of_it(name: str) -> None:
    """What is done, in words that a trace has, and one or more sentences on how it is shut."""
    assert purpose(name)
    for entry in entries(name):
        assert set(entry.does) <= set(DOES)
        assert all(path.startswith(("/", *(word for word in _words(name)))) for path in entry.paths), entry.paths
        assert entry.shut.endswith(".")


def _words(name: str) -> set[str]:
    """The words of capitals that an entry of a script can begin with."""
    return {word.rstrip("*") for word in SCRIPTS[name].split()} | {"KEPT", "LEASE", "CWD", "WHERE"}


def test_the_shared_ones_are_told_once() -> None:
    """In a section of their own, to which the scripts refer."""
    text = page()
    for title in (EVERY.title, *(f"{each}.sh" for each in shared_parts())):
        assert text.count(f"\n### {title}\n") == 1
