"""Ending what belongs to a lab: its keeper, and all that ends with it. No lab is needed for that, but root."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chaosk.lab import kind_selection
from chaosk.lab.state import LabState, try_lock

from .conftest import TAG

pytestmark = pytest.mark.lab

MANY = 1_000
KEEPER = """
import subprocess, sys, time
for _ in range(int(sys.argv[1])):
    subprocess.Popen(["sleep", sys.argv[2]], stdout=subprocess.DEVNULL)
print("up", flush=True)
time.sleep(600)
"""
"""Stands for the keeper: the first process of its namespace, and no child of it has the mark."""


def test_what_ends_with_the_keeper_has_ended(tmp_path: Path) -> None:
    """The keeper ends with its parent, and gives up the mark some time before the last of its children is gone."""
    place, seconds = LabState(tmp_path, f"{TAG}e"), f"600.{os.getpid()}"
    place.directory.mkdir(parents=True)
    mark = os.open(place.alive, os.O_RDWR | os.O_CREAT, 0o600)
    assert try_lock(mark)
    argv = ["unshare", "--pid", "--fork", "--kill-child", sys.executable, "-c", KEEPER, str(MANY), seconds]
    with subprocess.Popen(argv, pass_fds=[mark], stdout=subprocess.PIPE, text=True) as parent:
        os.close(mark)
        assert parent.stdout is not None
        assert parent.stdout.readline() == "up\n"
        children = running(seconds)
        assert len(children) == MANY
        kind_selection.present(place).destroy()
        assert [process.name for process in children if process.exists()] == []


def running(seconds: str) -> list[Path]:
    """Processes that sleep that long."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes() == f"sleep\0{seconds}\0".encode():
                found.append(process)
        except OSError:
            continue  # it has ended meanwhile
    return found
