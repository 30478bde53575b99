"""Output that nobody takes any more: what says it goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import pathlib, sys
import click
from rich.console import Console
from chaosk.cli._outlet import lasting_output
with lasting_output():
    console = Console()
    for _ in range(3):
        console.print("from rich " * 2000)
        click.echo("from click " * 2000)
        click.echo("to stderr " * 2000, err=True)
        print("from Python " * 2000)
pathlib.Path(sys.argv[1]).write_text("to the end")
sys.exit(3)
"""


@pytest.mark.parametrize("lost", [1, 2])
@pytest.mark.parametrize("how", ["reader", "disk"])
def test_a_program_goes_on_without_its_reader(tmp_path: Path, lost: int, how: str) -> None:
    """Its reader has left, or its disk is full: it comes to its own end, with its own exit code."""
    if how == "disk":
        place = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, place = os.pipe()
        os.close(reader)
    out, err = (place, subprocess.DEVNULL) if lost == 1 else (subprocess.DEVNULL, place)
    words = [sys.executable, "-c", PROGRAM, str(tmp_path / "end")]
    code = subprocess.run(words, stdout=out, stderr=err, check=False).returncode
    os.close(place)
    assert (tmp_path / "end").read_text() == "to the end"
    assert code == 3


def test_what_is_heard_is_unchanged(tmp_path: Path) -> None:
    """Every line arrives where somebody listens, in order."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "end")], capture_output=True, text=True, check=False
    )
    said = [word for word in done.stdout.split() if word in {"rich", "click", "Python"}]
    assert [word for place, word in enumerate(said) if place == 0 or said[place - 1] != word] == [
        "rich", "click", "Python",
    ] * 3  # fmt: skip
    assert len(said) == 3 * 3 * 2000
    assert done.stderr.count("to stderr") == 3 * 2000
