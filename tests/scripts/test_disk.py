"""The script that fills a file system, in real shells, in a folder of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosk.hosts.scripts import script

Ask = Callable[..., subprocess.CompletedProcess[str]]
SIZE = 300_000


@pytest.fixture(params=[shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Ask:
    """The script by each shell; leases are elsewhere unless it is told otherwise."""
    shell = ["busybox", "sh"] if request.param == "busybox" else [request.param]

    def ask(
        action: str, *words: object, leases: str = "/proc", path: str = os.environ["PATH"]
    ) -> subprocess.CompletedProcess[str]:
        text = script("disk").replace("leases=/var/lib/chaosk", f"leases={leases}")
        argv = [
            shutil.which(shell[0]) or "",
            *shell[1:],
            "-c",
            text,
            "chaosk",
            action,
            str(tmp_path / "fill"),
            *map(str, words),
        ]
        return subprocess.run(argv, capture_output=True, text=True, check=False, env={"PATH": path})

    return ask


def test_a_file_of_a_size(tmp_path: Path, disk: Ask) -> None:
    """All its blocks are there, nobody else reads it; twice is as once; then it is gone, and twice is as once."""
    assert disk("fits", "size", SIZE).returncode == 0
    for _ in range(2):
        done = disk("fill", "size", SIZE)
        assert done.returncode == 0, done.stderr
    status = (tmp_path / "fill").stat()
    assert (status.st_blocks * 512 >= SIZE, status.st_mode & 0o777) == (True, 0o600)
    assert disk("filled", "size", SIZE).returncode == 0
    assert "is there" in disk("gone").stderr
    assert disk("empty").returncode == disk("empty").returncode == disk("gone").returncode == 0
    assert not (tmp_path / "fill").exists()


def test_without_fallocate_it_is_written(tmp_path: Path, disk: Ask) -> None:
    """Some file systems cannot reserve; zeros do, as long as they are really written."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("awk", "dd", "df", "head", "readlink", "rm", "stat"):
        (tools / name).symlink_to(shutil.which(name) or "")
    assert disk("fill", "size", SIZE, path=str(tools)).returncode == 0
    assert disk("filled", "size", SIZE, path=str(tools)).returncode == 0


def test_what_is_sparse_does_not_count(tmp_path: Path, disk: Ask) -> None:
    """A file with the right size and without blocks fills nothing."""
    with (tmp_path / "fill").open("wb") as file:
        file.truncate(SIZE)
    done = disk("filled", "size", SIZE)
    assert done.returncode == 1
    assert "takes 0 KiB" in done.stderr


def test_somebody_elses_link_is_not_followed(tmp_path: Path, disk: Ask) -> None:
    """Whoever may write in the folder cannot have root write elsewhere."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "fill").symlink_to(precious)
    assert disk("fill", "size", SIZE).returncode == 0
    assert precious.read_text() == "mine"
    assert not (tmp_path / "fill").is_symlink()


def test_what_does_not_fit_is_refused_with_figures(tmp_path: Path, disk: Ask) -> None:
    """Too much, nothing to do, a file that is there, a folder that is not."""
    assert "do not fit" in disk("fits", "size", 1 << 60).stderr
    assert "there is nothing to fill" in disk("fits", "free", 1 << 60).stderr
    (tmp_path / "fill").touch()
    assert "is there already" in disk("fits", "size", 1).stderr
    shutil.rmtree(tmp_path)
    assert "there is no directory" in disk("fits", "size", 1).stderr
    assert disk("gone").returncode == 0


def test_leases_keep_their_room(tmp_path: Path, disk: Ask) -> None:
    """On the file system of the leases 16 MiB stay free, also where their folder is yet to be made."""
    for leases in (str(tmp_path), str(tmp_path / "not" / "yet")):
        done = disk("fits", "free", 1 << 20, leases=leases)
        assert done.returncode == 1
        assert "leave 16384 KiB free for leases" in done.stderr
        assert disk("fits", "free", 20 << 20, leases=leases).returncode == 0
    assert disk("fits", "free", 1 << 20).returncode == 0
