"""The script that corrupts a partition's log, by each shell, on files of its own; it takes root."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from bystander import lives

from chaosk.hosts.scripts import script

pytestmark = pytest.mark.lab

Ask = Callable[..., subprocess.CompletedProcess[str]]
NOBODY = 0
"""The id of no process."""
RECORDS = bytes(range(256)) * 64


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    """The newest segment of two, with an index beside it, in a data directory with a blank in its name."""
    log = tmp_path / "da ta" / "orders-0"
    log.mkdir(parents=True)
    (log / f"{0:020}.log").write_bytes(RECORDS)
    (log / f"{7:020}.index").write_bytes(RECORDS)
    newest = log / f"{7:020}.log"
    newest.write_bytes(RECORDS)
    return newest


@pytest.fixture(params=[shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def ask(segment: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Ask:
    """The script, with notes in a place of its own, and little patience; ``server`` is the process whose log it is."""
    shell = ["busybox", "sh"] if request.param == "busybox" else [request.param]

    def run(action: str, server: int = NOBODY, log: str = "orders-0") -> subprocess.CompletedProcess[str]:
        (tmp_path / "pid").write_text(str(server))
        text = script("corrupt").replace("/var/lib/chaosk", str(tmp_path / "kept"))
        text = text.replace("patience=100", "patience=1")
        words = [action, "0a", str(segment.parent.parent), "script", str(tmp_path / "pid"), "", log]
        return subprocess.run([*shell, "-c", text, "chaosk", *words], capture_output=True, text=True, check=False)

    return run


def kept(tmp_path: Path) -> list[Path]:
    """What is noted on the host."""
    return list((tmp_path / "kept" / "corrupted").iterdir())


def test_the_middle_of_the_newest_segment_and_nothing_else(segment: Path, ask: Ask, tmp_path: Path) -> None:
    """As long as before; mended it is what it was, and the note is gone; each twice is as once."""
    assert ask("fits").returncode == 0, ask("fits").stderr
    assert ask("corrupt").returncode == ask("corrupt").returncode == 0, ask("corrupt").stderr
    middle = len(RECORDS) // 2
    assert segment.read_bytes() == RECORDS[:middle] + b"#" * 512 + RECORDS[middle + 512 :]
    assert [path.read_bytes() == RECORDS for path in sorted(segment.parent.iterdir())] == [True, True, False]
    assert "still has what was written" in ask("recovered").stderr
    assert "not settled" in ask("mended").stderr
    assert "corrupted already" in ask("fits").stderr
    assert ask("mend").returncode == ask("mend").returncode == ask("mended").returncode == 0
    assert segment.read_bytes() == RECORDS
    assert kept(tmp_path) == []


@pytest.mark.parametrize("now", [RECORDS[:100], RECORDS[: len(RECORDS) // 2 + 50], RECORDS + b"more"])
def test_what_a_server_has_recovered_is_left_alone(segment: Path, ask: Ask, tmp_path: Path, now: bytes) -> None:
    """Cut off before our bytes or among them, or fetched anew: to write there now would be the corruption."""
    assert ask("corrupt").returncode == 0
    with segment.open("r+b") as file:
        file.truncate(0)
        file.write(now)
    assert ask("recovered").returncode == 0, ask("recovered").stderr
    assert ask("mend").returncode == ask("mended").returncode == 0
    assert segment.read_bytes() == now
    assert kept(tmp_path) == []


def test_another_file_of_that_name_is_left_alone(segment: Path, ask: Ask) -> None:
    """Even with the same bytes in it: somebody else has put it there."""
    assert ask("corrupt").returncode == 0
    copy = segment.with_suffix(".copy")
    shutil.copyfile(segment, copy)
    copy.rename(segment)
    corrupt = segment.read_bytes()
    assert ask("mend").returncode == 0
    assert segment.read_bytes() == corrupt


def test_nothing_is_written_under_a_server_that_runs(segment: Path, ask: Ask) -> None:
    """Neither to corrupt nor to mend: it may be cutting the file off at this moment."""
    with lives("env") as server:
        assert "still runs" in ask("corrupt", server).stderr
        assert segment.read_bytes() == RECORDS
        assert ask("corrupt").returncode == 0
        corrupt = segment.read_bytes()
        assert "has " in ask("mend", server).stderr
        assert segment.read_bytes() == corrupt
    assert ask("mend").returncode == 0
    assert segment.read_bytes() == RECORDS


def test_what_cannot_be_corrupted_is_refused(segment: Path, ask: Ask) -> None:
    """A log that is not there, and one that is too short to have a middle."""
    assert "there is no segment" in ask("fits", log="orders-1").stderr
    segment.write_bytes(RECORDS[:8191])
    assert "8191 bytes, fewer than 8192" in ask("fits").stderr
    assert ask("corrupt").returncode == 1
    assert ask("recovered").returncode == 1
    assert segment.read_bytes() == RECORDS[:8191]
