"""The script that changes owners, by each shell, on files of its own; it takes root to give files away."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosk.hosts.scripts import script

pytestmark = pytest.mark.lab

Ask = Callable[..., subprocess.CompletedProcess[str]]
KAFKA, NOBODY, OTHER = 54321, 65534, 54322


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data directory with a partition, a link, and something of somebody else's."""
    data = tmp_path / "data"
    (data / "orders-0").mkdir(parents=True)
    (data / "orders-0" / "0.log").write_text("records")
    (tmp_path / "outside").write_text("not its own")
    (data / "link").symlink_to(tmp_path / "outside")
    for path in (data, *data.rglob("*")):
        os.lchown(path, KAFKA, 7)
    (data / "lost+found").mkdir()
    os.chown(data / "lost+found", OTHER, 0)
    return data


@pytest.fixture(params=[shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def ask(folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Ask:
    """The script, with notes in a place of its own."""
    shell = ["busybox", "sh"] if request.param == "busybox" else [request.param]

    def run(action: str, *words: str) -> subprocess.CompletedProcess[str]:
        text = script("owner").replace("/var/lib/chaosk", str(tmp_path / "kept"))
        argv = [*shell, "-c", text, "chaosk", action, str(folder), "0a", *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False)

    return run


def owners(folder: Path) -> dict[str, tuple[int, int]]:
    """By path the owner and group of everything in a folder, and of the folder."""
    return {
        str(path.relative_to(folder.parent)): (path.lstat().st_uid, path.lstat().st_gid)
        for path in (folder, *sorted(folder.rglob("*")), folder.parent / "outside")
    }


def test_all_of_it_is_changed_and_given_back(folder: Path, ask: Ask) -> None:
    """Files, folders and links, no group, nothing outside and nothing of others'; twice is as once, both ways."""
    before = owners(folder)
    assert ask("fits", "nobody").returncode == 0
    assert ask("change", "nobody").returncode == ask("change", "nobody").returncode == 0
    assert ask("changed", "nobody").returncode == 0
    assert owners(folder) == {path: (NOBODY if uid == KAFKA else uid, gid) for path, (uid, gid) in before.items()}
    assert "not given back" in ask("restored").stderr
    assert ask("restore").returncode == ask("restore").returncode == ask("restored").returncode == 0
    assert owners(folder) == before


def test_half_a_change_is_given_back(folder: Path, ask: Ask) -> None:
    """As if it had been killed on its way: the note is there first."""
    before = owners(folder)
    assert ask("change", "nobody").returncode == 0
    os.chown(folder / "orders-0", KAFKA, 7)
    assert "is owned by 54321" in ask("changed", "nobody").stderr
    assert ask("restore").returncode == 0
    assert owners(folder) == before


def test_what_could_not_be_given_back_is_refused(folder: Path, ask: Ask) -> None:
    """Files that the new owner has already; a change that stands; a folder that its group may write, or that is not."""
    os.chown(folder / "lost+found", 0, 0)
    assert "lost+found is already owned by root" in ask("fits", "root").stderr
    assert "no account" in ask("fits", "no-such-account").stderr
    folder.chmod(0o775)
    assert "can be written by its group" in ask("fits", "nobody").stderr
    folder.chmod(0o755)
    assert ask("change", "nobody").returncode == 0
    assert "is changed already" in ask("fits", "nobody").stderr
    assert ask("restore").returncode == 0
    shutil.rmtree(folder)
    assert "there is no directory" in ask("fits", "nobody").stderr
    assert ask("restored").returncode == 0
