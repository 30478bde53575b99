"""An analysis that stands by judges as one of a run's own does, and leaves nothing behind that went wrong."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from analysis.history import small_run
from analysis.test_process import judged_bytes, lossy
from pyspark.sql import SparkSession

from chaosk.analysis import spark as settings
from chaosk.analysis.analyze import analyze
from chaosk.analysis.standby import Judge
from chaosk.run.standby import VARIABLE, Standby, at_hand, standing_by

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600), pytest.mark.long]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """One that stands by while this module's tests run: where, and its log."""
    path = tmp_path_factory.mktemp("standby") / "log"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(VARIABLE, raising=False)
        with standing_by(path):
            yield os.environ[VARIABLE], path


@pytest.fixture
def log(kept: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the one says that this test finds standing by."""
    monkeypatch.setenv(VARIABLE, kept[0])
    return kept[1]


def standing() -> Standby:
    """A connection to it."""
    found = at_hand()
    assert found is not None
    return found


def below(parent: int) -> list[tuple[int, list[str]]]:
    """A process's children, each with its command line."""
    tasks = Path(f"/proc/{parent}/task").iterdir()
    pids = [int(child) for task in tasks for child in (task / "children").read_text("ascii").split()]
    return [(pid, Path(f"/proc/{pid}/cmdline").read_text("utf-8").split("\0")) for pid in pids]


def eventually(met: Callable[[], bool]) -> bool:
    """Whether it is met within a minute."""
    until = time.monotonic() + 60
    while not met() and time.monotonic() < until:
        time.sleep(0.1)
    return met()


def test_it_judges_as_any_other(log: Path, spark: SparkSession, tmp_path: Path) -> None:
    """Two runs, one after the other and the first once more: the same bytes as of another session, and no word."""
    runs = {"violation": lossy(tmp_path / "lossy"), "pass": small_run(tmp_path / "small")}
    wanted = {}
    for outcome, rundir in runs.items():
        analyze(spark, rundir)
        wanted[outcome] = judged_bytes(rundir)
    for outcome, rundir in [*runs.items(), next(iter(runs.items()))]:
        shutil.rmtree(rundir.evidence)
        rundir.verdict.unlink()
        asked = standing()
        told = asked.judge(rundir.root, 500)
        asked.close()
        assert told is not None
        assert (told["verdict"], told["outcome"]) == (str(rundir.verdict), outcome)
        assert told["seconds"]["judge"] > 0
        assert judged_bytes(rundir) == wanted[outcome]
    assert log.read_text("utf-8") == ""


def test_one_whom_nobody_waits_for_goes_on(log: Path, tmp_path: Path) -> None:
    """A run that was ended while it was judged takes nothing from the next one."""
    gone, rundir = standing(), small_run(tmp_path / "run")
    gone._socket.sendall(json.dumps(str(rundir.root)).encode() + b"\n")
    gone.close()
    asked = standing()
    assert asked.judge(rundir.root, 500) is not None
    asked.close()
    assert log.read_text("utf-8") == ""


def test_a_large_run_is_left_to_a_session_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its JVM has other settings from the start, so that the answer is none; nothing is judged."""
    rundir = small_run(tmp_path / "run")
    monkeypatch.setattr(settings, "LARGE", 1)
    assert Judge().answer(rundir.root) == b""
    assert not rundir.verdict.exists()


def test_after_an_error_nobody_stands_by(log: Path, tmp_path: Path) -> None:
    """It says in its log what went wrong, gives no answer, and ends with its JVM: last in this module."""
    rundir = small_run(tmp_path / "run")
    rundir.plan.write_text("{", "utf-8")
    asked = standing()
    jvms = [pid for pid, words in below(os.getpid()) if "chaosk.analysis.standby" in words for pid, _ in below(pid)]
    assert asked.judge(rundir.root, 500) is None
    asked.close()
    assert "plan.json" in log.read_text("utf-8")
    assert at_hand() is None
    assert jvms
    assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in jvms))
