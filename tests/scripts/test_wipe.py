"""The script that sets a data directory aside, by each shell, on files of its own; it takes root to keep owners."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from account import KAFKA, as_account, busy, reached_by_all
from bystander import lives

from chaosk.hosts.scripts import script

pytestmark = pytest.mark.lab

Ask = Callable[..., subprocess.CompletedProcess[str]]
NOBODY = 0
"""The id of no process."""


@pytest.fixture
def yard() -> Iterator[Path]:
    """A folder that everybody reaches."""
    with reached_by_all() as made:
        yield made


@pytest.fixture
def folder(yard: Path) -> Path:
    """A data directory, with a blank in its name, a partition, and what says whose it is."""
    data = yard / "da ta"
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
    return folder.with_name(f"{folder.name}.chaosk-0a") / "old"


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
    assert sorted(path.name for path in folder.parent.iterdir()) == ["da ta", "da ta.chaosk-0a"]


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
    folder.rename(aside(folder).with_name("new"))
    aside(folder).rename(folder)
    assert "not settled" in ask("settled").stderr
    assert ask("settle").returncode == 0
    assert tree(folder) == before
    assert sorted(path.name for path in folder.parent.iterdir()) == ["da ta"]


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


def test_what_is_kept_stays_whole_and_is_named(folder: Path, ask: Ask) -> None:
    """Beside the directory, once the server has been started without it and not before; nothing else is left."""
    before = tree(folder)
    assert ask("wipe").returncode == 0
    assert "is still needed" in ask("keep").stderr
    start(folder)
    kept = folder.with_name(f"{folder.name}.kept-0a")
    assert f"what was set aside is {kept};" in ask("keep").stdout
    assert tree(kept) == before
    assert sorted(path.name for path in folder.parent.iterdir()) == sorted([folder.name, kept.name])
    assert ask("keep").returncode == ask("settled").returncode == 0


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


# --- the server's account, which may do in the folder around it what it likes -------------------------------


@pytest.fixture
def secret(tmp_path: Path, folder: Path) -> Iterator[Path]:
    """A folder and a file of root's that must stay so; the folder around the data directory is the account's."""
    os.chown(folder.parent, KAFKA, 7)
    found = tmp_path / "of root"
    found.mkdir(mode=0o700)
    (found / "shadow").write_text("not for you")
    (found / "shadow").chmod(0o600)
    before = tree(found)
    yield found
    assert tree(found) == before, "the account has changed what is root's"


def test_a_link_in_place_of_what_chaosk_makes_leads_nowhere(folder: Path, ask: Ask, secret: Path) -> None:
    """Planted before the wipe, under every name that it uses: root goes through none, and moves nothing."""
    before = tree(folder)
    for name in (f"{folder.name}.chaosk-0a", f"{folder.name}.chaosk-0a.new"):
        link = folder.with_name(name)
        assert as_account('ln -s "$1" "$2"', str(secret), str(link)).wait() == 0
        assert ask("fits").returncode == 1
        assert ask("wipe").returncode == (1 if name.endswith("-0a") else 0)
        assert ask("settle").returncode == 0
        assert tree(folder) == before
        link.unlink()


def test_a_link_in_place_of_the_identity_is_not_read(folder: Path, ask: Ask, secret: Path) -> None:
    """What root could read there, the account cannot afterwards."""
    (folder / "meta.properties").unlink()
    (folder / "meta.properties").symlink_to(secret / "shadow")
    assert "is no plain file" in ask("wipe").stderr
    assert ask("settle").returncode == 0
    assert (folder / "orders-0" / "0.log").read_text() == "records"


def test_a_link_in_the_path_is_not_followed(folder: Path, ask: Ask, secret: Path, tmp_path: Path) -> None:
    """The folder around it may be the account's to replace: root works in none that a link leads to."""
    (secret / folder.name).mkdir()
    (tmp_path / "there").symlink_to(secret)
    for action in ("fits", "wipe", "settle", "discard"):
        assert "a link leads to" in ask(action, at=tmp_path / "there" / folder.name).stderr
    (secret / folder.name).rmdir()


SWAPPING = """
    mv -T "$1" "$1.mine" && ln -s "$3" "$1"; mv -T "$2" "$2.mine" && ln -s "$3" "$2"
    ln -sf "$3/shadow" "$1/meta.properties"; ln -sf "$3/shadow" "$1.mine/meta.properties"
    rm -f "$1" "$2"; mv -T "$1.mine" "$1"; mv -T "$2.mine" "$2"
"""


def test_an_account_that_swaps_names_all_the_time_gains_nothing(folder: Path, ask: Ask, secret: Path) -> None:
    """While root sets the directory aside and puts it back, dozens of times, links take its place in between."""
    with busy(SWAPPING, str(folder), str(folder.with_name(f"{folder.name}.chaosk-0a")), str(secret)):
        for number in range(40):
            assert ask(("wipe", "settle", "stands", "discard", "settled")[number % 5]).returncode in {0, 1}
    theirs = [path for path in folder.parent.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in theirs if path.parent.name != "wiped" and "not for you" in path.read_text("utf-8")]
