"""The analysis beside the run: how long it may take, and what becomes of one that fails or takes too long."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import chaosk
from chaosk.core.errors import AnalysisError
from chaosk.run import analyst
from chaosk.run.analyst import Analyst, patience
from chaosk.rundir.paths import RunDir


@pytest.fixture
def rundir(tmp_path: Path) -> RunDir:
    """A run directory with a thousand rows."""
    found = RunDir(tmp_path)
    found.events.mkdir()
    pq.write_table(pa.table({"at": range(1_000)}), found.events / "clocks.parquet")
    return found


def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Have this run instead of the analysis."""
    path = tmp_path / "instead"
    path.write_text(f"#!{sys.executable}\n{text}\n", "utf-8")
    path.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(path))


def test_a_larger_run_may_take_longer() -> None:
    """A quarter of an hour, whatever there is to judge; a billion rows take hours and are not given up."""
    assert patience(0) == 900
    assert patience(1_000_000_000) > 24 * 3600


def test_what_it_printed_last_is_its_answer(rundir: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told to go on its standard input, and says how long each part took."""
    program(tmp_path, monkeypatch, "print('words'); print('{\"told\": \"' + input() + '\"}')")
    assert Analyst(rundir).judge() == {"told": "go"}


def test_it_makes_way_for_others_until_it_judges(
    rundir: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes processor time that nobody wants while probes run; then it and what it started are like any other.

    Its own policy says nothing to probes, which are in another session: the weight of its session does, where Linux
    groups tasks by session.
    """
    program(
        tmp_path,
        monkeypatch,
        f"""\
import json, os, subprocess, sys
sys.path.insert(0, {str(Path(chaosk.__file__).parent.parent)!r})
from chaosk.core import priority
child = subprocess.Popen(["sleep", "60"])
def seen():
    try:
        group = open("/proc/self/autogroup").read().split()[-1]
    except OSError:
        group = None
    return [os.sched_getscheduler(0), os.sched_getscheduler(child.pid), group]
before = seen()
input()
priority.resume()
print(json.dumps(dict(before=before, after=seen())))
child.kill()
""",
    )
    grouped = Path("/proc/self/autogroup").exists()
    told = Analyst(rundir).judge()
    assert told["before"] == [os.SCHED_IDLE, os.SCHED_IDLE, "5" if grouped else None]
    assert told["after"] == [os.SCHED_OTHER, os.SCHED_OTHER, "0" if grouped else None]


def test_one_that_takes_too_long_is_ended(rundir: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed, and the error names its log."""
    program(tmp_path, monkeypatch, "import time; time.sleep(600)")
    monkeypatch.setattr(analyst, "patience", lambda rows: rows / 2_000)
    found = Analyst(rundir)
    with pytest.raises(AnalysisError, match=r"took over 0 s; see .*analysis\.log"):
        found.judge()
    assert found._process is not None
    assert found._process.poll() is not None


def test_one_that_fails_is_quoted(rundir: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last words are in the error."""
    program(tmp_path, monkeypatch, "import sys; input(); sys.exit('no more memory')")
    with pytest.raises(AnalysisError, match="ended with 1: no more memory"):
        Analyst(rundir).judge()
