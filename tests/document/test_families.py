"""Hundreds of malformed scenarios and inventories: each refused at its place, at little cost, and nothing else done."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
import refusing
from malformed_families import Bad, families
from sample_documents import INVENTORY, SCENARIO, written

from chaosk.document import load_inventory, load_scenario

MOST_SECONDS = 1.0
"""Of CPU time for one file; the slowest needs a tenth of it."""
MOST_MEMORY = 200 * 1024**2
"""Bytes of the whole process while it reads one file; it needs a third of it."""


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one document."""

    bad: Bad
    path: Path
    told: str | None
    """The message; None if the file was taken."""
    lines: list[int] | None
    seconds: float
    peak: int
    did: list[str]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    """Every document, read in one process of its own with limits on its memory and time."""
    folder = tmp_path_factory.mktemp("families")
    written(folder, SCENARIO, "right-scenario.yaml")
    written(folder, INVENTORY, "right-inventory.yaml")
    cases = {f"{bad.kind}-{number:04d}.yaml": bad for number, bad in enumerate(families())}
    for name, bad in cases.items():
        written(folder, bad.document, name)
    child = subprocess.run(
        [sys.executable, refusing.__file__, str(folder)], capture_output=True, text=True, timeout=250, check=False
    )
    assert child.returncode == 0, child.stderr[-2000:]
    found = [json.loads(line) for line in child.stdout.splitlines()]
    assert len(found) == len(cases)
    return [Told(cases[each["file"]], folder / each.pop("file"), **each) for each in found]


def test_there_are_many_of_many_kinds(outcomes: list[Told]) -> None:
    """At least 500 files in at least 20 classes, and both kinds of document well among them."""
    assert len(outcomes) >= 500
    assert len({each.bad.family for each in outcomes}) >= 20
    assert min(Counter(each.bad.kind for each in outcomes).values()) >= 250


def test_the_documents_they_start_from_are_right(tmp_path: Path) -> None:
    """So each is wrong only by what was done to it."""
    load_scenario(written(tmp_path, SCENARIO))
    load_inventory(written(tmp_path, INVENTORY))


def test_each_is_refused(outcomes: list[Told]) -> None:
    """None is taken for a right one, and none ends in an error that is not chaosk's own."""
    taken = [f"{each.bad.family}: {each.path}" for each in outcomes if each.told is None]
    assert taken == []
    crashed = [f"{each.bad.family}: {each.path}: {each.told}" for each in outcomes if "NOT OURS" in str(each.told)]
    assert crashed == []


def test_each_message_has_a_place_and_a_way_out(outcomes: list[Told]) -> None:
    """Every line is ``file:line:column: what is wrong; what to write``, in our words, at or near the mistake."""
    for each in outcomes:
        lines = str(each.told).splitlines()
        for line in lines:
            assert line.startswith((f"{each.path}:", "… and ")), line
            assert ";" in line or "?" in line, line
            for foreign in ("pydantic", "Input should", "Traceback", "NoneType", "libyaml"):
                assert foreign not in line, line
        assert each.lines is not None
        assert set(each.lines) & set(each.bad.lines), (each.bad.family, each.bad.lines, each.told)


def test_no_message_is_endless(outcomes: list[Told]) -> None:
    """A bad file cannot fill a terminal: so many problems, each so long."""
    assert max(len(str(each.told)) for each in outcomes) < 64 * 1024


def test_no_message_holds_what_nobody_sees(outcomes: list[Told]) -> None:
    """A control character of the file does not reach the terminal that shows the message."""
    for each in outcomes:
        shown = str(each.told).replace("\n", "")
        assert shown.isprintable(), (each.bad.family, each.told)


def test_each_costs_little(outcomes: list[Told]) -> None:
    """Under a second of CPU time and under 200 MB, whatever is in the file."""
    slow = [(each.seconds, each.bad.family, each.path.name) for each in outcomes if each.seconds >= MOST_SECONDS]
    assert slow == []
    large = [(each.peak, each.bad.family, each.path.name) for each in outcomes if each.peak >= MOST_MEMORY]
    assert large == []


def test_nothing_else_is_done(outcomes: list[Told]) -> None:
    """No connection, no process, no file written, while any of them is read."""
    assert [(each.bad.family, each.did) for each in outcomes if each.did] == []
