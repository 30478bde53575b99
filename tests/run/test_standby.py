"""An analysis that stands by, as a run sees it: found or not, asked, and never needed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chaosk.core.errors import AnalysisError
from chaosk.run import standby
from chaosk.run.analyst import Analyst
from chaosk.run.standby import VARIABLE, at_hand, standing_by
from chaosk.rundir.paths import RunDir


@pytest.fixture
def rundir(tmp_path: Path) -> RunDir:
    """A run directory with a row."""
    found = RunDir(tmp_path / "run")
    found.events.mkdir(parents=True)
    pq.write_table(pa.table({"at": [1]}), found.events / "clocks.parquet")
    return found


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], list[str]]]:
    """Stands by and gives one answer; the questions that came."""
    listener, questions = socket.socket(socket.AF_UNIX), list[str]()
    listener.bind(str(tmp_path / "socket"))
    listener.listen()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "socket"))

    def standing(answer: bytes) -> list[str]:
        def serve() -> None:
            with suppress(OSError), listener.accept()[0] as connection, connection.makefile("rb") as lines:
                questions.append(json.loads(lines.readline()))
                connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        return questions

    yield standing
    listener.close()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run starts as an analysis of its own says that it is."""
    path = tmp_path / "own"
    path.write_text(f"#!{sys.executable}\nprint('{{\"own\": \"' + input() + '\"}}')\n", "utf-8")
    path.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(path))


def test_what_stands_by_is_asked(asked: Callable[[bytes], list[str]], rundir: RunDir) -> None:
    """It is told which run, its answer is the run's, and no other analysis is started."""
    questions = asked(b'{"told": "it"}\n')
    analyst = Analyst(rundir)
    assert analyst.judge() == {"told": "it"}
    assert questions == [str(rundir.root)]
    assert analyst._process is None
    analyst.close()
    assert "told" in (rundir.root / "analysis.log").read_text("utf-8")


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("answer", [b"", b'{"half of', b"\n"])
def test_without_an_answer_a_run_has_an_analysis_of_its_own(
    asked: Callable[[bytes], list[str]], rundir: RunDir, answer: bytes
) -> None:
    """It declined, or died while it judged."""
    asked(answer)
    analyst = Analyst(rundir)
    assert analyst.judge() == {"own": "go"}
    analyst.close()


@pytest.mark.usefixtures("own", "asked")  # it listens, and nobody accepts
def test_nobody_waits_for_ever(rundir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up like any analysis that takes too long; no other one writes where it may still be writing."""
    monkeypatch.setattr("chaosk.run.analyst.patience", lambda rows: rows * 0.3)
    analyst = Analyst(rundir)
    with pytest.raises(AnalysisError, match=r"took over 0 s; see .*analysis\.log"):
        analyst.judge()
    assert analyst._process is None


@pytest.mark.parametrize("path", ["", "nowhere/socket", "x" * 200])
def test_where_nobody_stands_by(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable of one that is gone, or anything else in it, is no error."""
    monkeypatch.setenv(VARIABLE, path)
    assert at_hand() is None


def test_it_is_there_for_as_long_as_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And then neither its process, nor its socket, nor the variable; a second one is not started meanwhile."""
    monkeypatch.delenv(VARIABLE, raising=False)
    before = children(os.getpid())
    with standing_by(tmp_path / "log"):
        path = os.environ[VARIABLE]
        with standing_by(tmp_path / "other"):
            assert os.environ[VARIABLE] == path
        assert not (tmp_path / "other").exists()
        assert Path(path).is_socket()
        (child,) = children(os.getpid()) - before
    assert VARIABLE not in os.environ
    assert not Path(path).parent.exists()
    assert not Path(f"/proc/{child}").exists()
    assert (tmp_path / "log").read_text("utf-8") == ""


def test_it_ends_with_whoever_keeps_it(tmp_path: Path) -> None:
    """Killed, not told."""
    program = (
        "import time; from pathlib import Path; from chaosk.run.standby import standing_by\n"
        f"with standing_by(Path({str(tmp_path / 'log')!r})):\n print(flush=True); time.sleep(600)"
    )
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE} | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment) as keeper:
        assert keeper.stdout is not None
        keeper.stdout.readline()
        (child,) = children(keeper.pid)
        keeper.send_signal(signal.SIGKILL)
    assert eventually(lambda: not Path(f"/proc/{child}").exists())
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_where_it_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path too long for a socket, or a log that cannot be written: nobody stands by, and all else goes on."""
    monkeypatch.delenv(VARIABLE, raising=False)
    with standing_by(tmp_path / "nowhere/log"):
        assert VARIABLE not in os.environ
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with standing_by(tmp_path / "log"):
        assert VARIABLE not in os.environ
    assert list(long.iterdir()) == []


def test_it_is_ended_if_it_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate does not hang on it."""
    path = tmp_path / "deaf"
    path.write_text(f"#!{sys.executable}\nimport time; time.sleep(600)\n", "utf-8")
    path.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(path))
    monkeypatch.setattr(standby, "_END", 0.2)
    monkeypatch.delenv(VARIABLE, raising=False)
    before = children(os.getpid())
    with standing_by(tmp_path / "log"):
        (child,) = children(os.getpid()) - before
    assert not Path(f"/proc/{child}").exists()


def children(parent: int) -> set[str]:
    """The processes that stand by, of a process's; the tests of labs have one of their own."""
    tasks = Path(f"/proc/{parent}/task").iterdir()
    found = [child for task in tasks for child in (task / "children").read_text("ascii").split()]
    return {child for child in found if "chaosk.analysis.standby" in Path(f"/proc/{child}/cmdline").read_text("utf-8")}


def eventually(met: Callable[[], bool]) -> bool:
    """Whether it is met within half a minute."""
    until = time.monotonic() + 30
    while not met() and time.monotonic() < until:
        time.sleep(0.05)
    return met()
