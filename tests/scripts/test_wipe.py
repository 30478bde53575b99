"""The script that sets a data directory aside, by each shell, on files of its own; it takes root to keep owners."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from bystander import lives

from chaosk.scripts import script

pytestmark = pytest.mark.lab

Ask = Callable[..., subprocess.CompletedProcess[str]]
KAFKA = 54321
NOBODY = 0
"""The id of no process."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data directory, with a blank in its name, a partition, and what says whose it is."""
    data = tmp_path / "da ta"
    (data / "orders-0").mkdir(parents=True)
    (data / "orders-0" / "0.log").write_text("records")
    (data / "meta.properties").write_text("node.id=1\n")
    for path in (data, *data.rglob("*")):
        os.chown(path, KAFKA, 7)
    data.chmod(0o750)
    return data


@pytest.fixture(params=[shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def ask(folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Ask:
    """The script, with notes in a place of its own; ``server`` is the process whose directory it is."""
    shell = ["busybox", "sh"] if request.param == "busybox" else [request.param]

    def run(
        action: str, server: int = NOBODY, at: Path = folder, which: str = "0a"
    ) -> subprocess.CompletedProcess[str]:
        (tmp_path / "pid").write_text(str(server))
        text = script("wipe").replace("/var/lib/chaosk", str(tmp_path / "kept"))
        argv = [*shell, "-c", text, "chaosk", action, which, str(at), "script", str(tmp_path / "pid"), ""]
        return subprocess.run(argv, capture_output=True, text=True, check=False)

    return run


def tree(folder: Path) -> dict[str, tuple[int, int, int]]:
    """By path in a folder, and of the folder: inode, owner and mode."""
    known = {str(path.relative_to(folder)): path.stat() for path in (folder, *folder.rglob("*"))}
    return {name: (one.st_ino, one.st_uid, one.st_mode) for name, one in known.items()}


def aside(folder: Path) -> Path:
    """Where it is set aside."""
    return folder.with_name(f"{folder.name}.chaosk-0a")


def start(folder: Path) -> None:
    """What a broker does first."""
    (folder / ".lock").touch()


def test_an_empty_directory_is_there_and_the_former_one_is_whole(folder: Path, ask: Ask) -> None:
    """The same owner and mode, and its identity; the former one is renamed, not copied; twice is as once."""
    before = tree(folder)
    assert ask("fits").returncode == 0, ask("fits").stderr
    assert ask("wipe").returncode == ask("wipe").returncode == 0, ask("wipe").stderr
    assert tree(aside(folder)) == before
    assert {name: one[1:] for name, one in tree(folder).items()} == {
        name: before[name][1:] for name in (".", "meta.properties")
    }
    assert ask("stands").returncode == 0
    assert sorted(path.name for path in folder.parent.iterdir()) == ["da ta", "da ta.chaosk-0a", "kept", "pid"]


def test_a_server_that_was_never_started_gets_its_records_back(folder: Path, ask: Ask, tmp_path: Path) -> None:
    """Also if only half was done: each step of the wipe is undone to the same tree, and nothing is left beside it."""
    before = tree(folder)
    assert ask("settle").returncode == 0
    for missing in (False, True):
        assert ask("wipe").returncode == 0
        if missing:
            shutil.rmtree(folder)
        assert "not put back" in ask("settled").stderr
        assert ask("settle").returncode == ask("settle").returncode == ask("settled").returncode == 0
        assert tree(folder) == before
    assert ask("discard").returncode == 0
    assert tree(folder) == before
    assert list((tmp_path / "kept" / "wiped").iterdir()) == []


def test_a_wipe_that_only_made_the_empty_one_is_undone(folder: Path, ask: Ask, tmp_path: Path) -> None:
    """Killed before the directory was moved: what was prepared goes, what is there stays."""
    before = tree(folder)
    assert ask("wipe").returncode == 0
    folder.rename(tmp_path / "da ta.chaosk-0a.new")
    aside(folder).rename(folder)
    assert "not settled" in ask("settled").stderr
    assert ask("settle").returncode == 0
    assert tree(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["da ta", "kept", "pid"]


def test_a_server_that_was_started_never_gets_them_back(folder: Path, ask: Ask) -> None:
    """What it has written since counts; what was set aside is kept until it is told to be discarded."""
    assert ask("wipe").returncode == 0
    start(folder)
    assert ask("settle").returncode == ask("settled").returncode == 0
    assert (aside(folder) / "orders-0" / "0.log").read_text() == "records"
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "meta.properties"]
    assert ask("discard").returncode == ask("discard").returncode == ask("settled").returncode == 0
    assert not aside(folder).exists()
    assert (folder / ".lock").exists()


def test_what_may_still_be_needed_is_not_discarded(folder: Path, ask: Ask) -> None:
    """Without a server that was started on the empty directory the former one is all there is."""
    assert ask("wipe").returncode == 0
    assert "is still needed" in ask("discard").stderr
    assert (aside(folder) / "orders-0" / "0.log").exists()


def test_nothing_is_moved_under_a_server_that_runs(folder: Path, ask: Ask) -> None:
    """It would go on writing where nobody looks; and one that runs on an empty directory has been started there."""
    before = tree(folder)
    with lives("env") as server:
        assert "still runs" in ask("wipe", server).stderr
        assert tree(folder) == before
        assert ask("settle", server).returncode == 0
        assert ask("wipe").returncode == 0
        assert ask("settle", server).returncode == 0
        assert aside(folder).exists()


def test_somebody_who_takes_it_away_is_noticed(folder: Path, ask: Ask) -> None:
    """The effect must be seen still before the undo; another directory under its name is never put back."""
    assert "not set aside" in ask("stands").stderr
    assert ask("wipe").returncode == 0
    shutil.rmtree(aside(folder))
    assert "somebody has removed" in ask("stands").stderr
    aside(folder).mkdir()
    assert "is not what was set aside" in ask("settle").stderr
    assert folder.is_dir()


def test_what_cannot_be_set_aside_is_refused(folder: Path, ask: Ask, tmp_path: Path) -> None:
    """A mount, a link, nothing at all, and one of which an earlier run's copy is still there."""
    (tmp_path / "link").symlink_to(folder)
    assert "no directory by itself" in ask("fits", at=tmp_path / "link").stderr
    assert "no directory by itself" in ask("fits", at=tmp_path / "none").stderr
    assert "is mounted there" in ask("fits", at=Path("/proc")).stderr
    assert ask("wipe", which="0b").returncode == 0
    start(folder)
    assert "0b was set aside by an earlier run" in ask("fits").stderr
    assert ask("discard", which="0b").returncode == ask("fits").returncode == 0
