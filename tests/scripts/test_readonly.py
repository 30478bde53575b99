"""The script that makes a directory read-only, by each shell, in mount namespaces of the tests' own; it takes root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from account import AS_ACCOUNT, GROUP, KAFKA, busy, reached_by_all
from bystander import lives

from chaosk.hosts.scripts import script

pytestmark = pytest.mark.lab

Ask = Callable[..., subprocess.CompletedProcess[str]]


ALONE = ("unshare", "--mount", "--propagation", "private")


@pytest.fixture
def host() -> Iterator[int]:
    """What stands for the host: a mount namespace in which the tests can mount what they like."""
    with lives(*ALONE) as pid:
        yield pid


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data directory, with a blank in its name and a file in it."""
    data = tmp_path / "da ta\\x"
    data.mkdir()
    (data / "0.log").write_text("records")
    return data


@pytest.fixture(params=[shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def ask(host: int, folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Ask:
    """The script on that host, with notes in a place of its own; ``server`` is the process whose directory it is.

    ``ends`` is a process that ends before `stands` counts mounts; ``blind``: `put` looks for its mount while a link
    is in place of the folder above.
    """
    shell = ["busybox", "sh"] if request.param == "busybox" else [request.param]
    (tmp_path / "kept").mkdir()

    def run(
        action: str, server: int = host, at: Path = folder, ends: int | None = None, *, blind: bool = False
    ) -> subprocess.CompletedProcess[str]:
        (tmp_path / "pid").write_text(str(server))
        text = script("readonly").replace("/var/lib/chaosk", str(tmp_path / "kept"))
        if ends is not None:
            look = '    [ "$(mounts_on)" -gt "$count" ] || fail "somebody'
            assert look in text
            text = text.replace(look, f"    kill -9 {ends}; sleep 0.2\n{look}")
        if blind:
            look = '    [ "$(mounts_on)" -gt "$count" ] || { not_moved'
            assert look in text
            text = text.replace(look, "    false || { not_moved")
        words = [action, "0a", str(at), "script", str(tmp_path / "pid"), ""]
        argv = ["nsenter", "--target", str(host), "--mount", *shell, "-c", text, "chaosk", *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False)

    return run


def can_write(process: int, folder: Path) -> bool:
    """Whether root can make a file there, as that process sees it."""
    file = folder / "made"
    words = ["nsenter", "--target", str(process), "--mount", "sh", "-c", 'echo x >"$1" && rm "$1"', "sh", str(file)]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def in_host(host: int, *words: str) -> str:
    """What a command says that is run there."""
    argv = ["nsenter", "--target", str(host), "--mount", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def mounts(process: int) -> list[str]:
    """Every mount that a process sees, but for the names of networks.

    Where a lab of another test goes down, the kernel takes the mount on its name away everywhere, here too.
    """
    lines = Path(f"/proc/{process}/mountinfo").read_text("utf-8").splitlines()
    return [line for line in lines if " /run/netns/" not in line]


def test_nobody_can_write_there_and_then_everybody_again(host: int, folder: Path, ask: Ask) -> None:
    """Twice is as once, both ways; a file that was open can be written all along, as a broker's active segments."""
    before = mounts(host)
    assert ask("fits").returncode == 0, ask("fits").stderr
    with (folder / "open").open("w") as file:
        assert ask("put").returncode == ask("put").returncode == 0, ask("put").stderr
        assert len(mounts(host)) == len(before) + 1
        assert not can_write(host, folder)
        assert ask("stands").stdout.endswith("is read-only\n")
        assert "not given back" in ask("gone").stderr
        assert "read-only already" in ask("fits").stderr
        file.write("more")
    assert ask("lift").returncode == ask("lift").returncode == ask("gone").returncode == 0
    assert can_write(host, folder)
    assert mounts(host) == before
    assert (folder / "open").read_text() == "more"


def test_who_reads_there_keeps_nothing_from_being_lifted(host: int, folder: Path, ask: Ask) -> None:
    """A broker that goes on has opened files by the mount: it is taken away all the same."""
    before = mounts(host)
    assert ask("put").returncode == 0
    where = str(folder)
    with lives("nsenter", "--target", str(host), "--mount", "sh", "-c", 'cd "$1"; shift; exec "$@"', "sh", where):
        assert ask("lift").returncode == 0
    assert mounts(host) == before
    assert can_write(host, folder)


def test_half_an_injection_is_lifted(host: int, folder: Path, ask: Ask, tmp_path: Path) -> None:
    """Killed after the note was written, and after the mount that can still be written."""
    before = mounts(host)
    assert ask("put").returncode == 0
    in_host(host, "umount", str(folder))
    assert "taken the mount" in ask("stands").stderr
    in_host(host, "mount", "--bind", str(folder), str(folder))
    assert "can be written" in ask("stands").stderr
    assert ask("lift").returncode == 0
    assert mounts(host) == before
    assert list((tmp_path / "kept" / "readonly").iterdir()) == []


def test_it_is_done_where_the_server_lives(host: int, folder: Path, ask: Ask) -> None:
    """A unit of systemd's may have a mount namespace to itself: there nobody can write, on the host one can."""
    with lives("nsenter", "--target", str(host), "--mount", *ALONE) as server:
        before = mounts(server)
        assert ask("fits", server).returncode == 0
        assert ask("put", server).returncode == 0
        assert can_write(host, folder)
        assert not can_write(server, folder)
        assert ask("stands", server).returncode == 0
        assert ask("lift", server).returncode == 0
        assert mounts(server) == before
        assert can_write(server, folder)


def test_a_process_that_ends_there_is_no_hole(host: int, folder: Path, ask: Ask) -> None:
    """The one by which the server's namespace was found is gone a moment later, like one of another run of this."""
    with lives("nsenter", "--target", str(host), "--mount", *ALONE) as first, ExitStack() as stack:
        server = stack.enter_context(lives("nsenter", "--target", str(first), "--mount"))
        for _ in range(20):  # the script takes the process that comes first among names
            if str(first) < str(server):
                break
            server = stack.enter_context(lives("nsenter", "--target", str(first), "--mount"))
        assert ask("put", server).returncode == 0
        told = ask("stands", server, ends=first)
        assert (told.stderr, told.stdout) == ("", f"{folder} is read-only\n")
        assert ask("lift", server).returncode == 0


def test_a_server_that_ends_takes_its_namespace_along(host: int, folder: Path, ask: Ask) -> None:
    """It has ended by the fault, which is an effect; one that runs again, where it can write, is none."""
    with lives("nsenter", "--target", str(host), "--mount", *ALONE) as server:
        assert ask("put", server).returncode == 0
    assert "the server has ended" in ask("stands", server).stdout
    assert "runs again" in ask("stands", host).stderr
    assert ask("lift", host).returncode == ask("gone", host).returncode == 0
    assert can_write(host, folder)


def test_what_others_have_mounted_stays(host: int, folder: Path, ask: Ask) -> None:
    """A file system under ours, and one that somebody puts on top of it: the lift waits until that one is gone."""
    in_host(host, "mount", "-t", "tmpfs", "theirs", str(folder))
    before = mounts(host)
    assert ask("put").returncode == 0
    assert not can_write(host, folder)
    in_host(host, "mount", "-t", "tmpfs", "others", str(folder))
    assert "mounted something else" in ask("stands").stderr
    assert "unmount that" in ask("lift").stderr
    assert mounts(host)[-1].split()[-3:-1] == ["tmpfs", "others"]
    in_host(host, "umount", str(folder))
    assert ask("lift").returncode == 0
    assert mounts(host) == before


def test_after_a_boot_there_is_nothing_to_lift(host: int, folder: Path, ask: Ask, tmp_path: Path) -> None:
    """The note of another boot is of no use, and whatever is mounted there now is somebody's own."""
    assert ask("put").returncode == 0
    note = tmp_path / "kept" / "readonly" / "0a"
    note.write_text("another boot\n" + note.read_text().partition("\n")[2])
    now = mounts(host)
    assert ask("lift").returncode == 0
    assert mounts(host) == now
    in_host(host, "umount", str(folder))


def test_what_is_refused(host: int, folder: Path, ask: Ask, tmp_path: Path) -> None:
    """No directory, no server, what holds the leases, what has other mounts in it, what is read-only anyhow."""
    assert "there is no directory" in ask("fits", at=tmp_path / "nowhere").stderr
    assert "keeps its leases" in ask("fits", at=tmp_path).stderr
    (folder / "below").mkdir()
    in_host(host, "mount", "-t", "tmpfs", "more", str(folder / "below"))
    assert "other mounts below" in ask("fits").stderr
    in_host(host, "umount", str(folder / "below"))
    with ExitStack() as mounted:
        in_host(host, "mount", "-t", "tmpfs", "-o", "ro", "more", str(folder))
        mounted.callback(in_host, host, "umount", str(folder))
        assert "cannot be written as it is" in ask("fits").stderr
    with lives() as ended:
        pass
    assert not Path(f"/proc/{ended}").exists()
    assert "does not run" in ask("fits", ended).stderr


def test_a_link_is_not_followed(host: int, folder: Path, ask: Ask, tmp_path: Path) -> None:
    """It could lead to /etc by the time at which root mounts; what the inventory names is the directory itself."""
    (tmp_path / "link").symlink_to(folder)
    before = mounts(host)
    for action in ("fits", "put"):
        assert "a link leads to" in ask(action, at=tmp_path / "link").stderr
    assert mounts(host) == before


# --- the server's account ---------------------------------------------------------------------------------------------

ALL = "4294967295"
"""How many users there are to a process that is in no user namespace of an account's."""
OWN_PROGRAMS = """
for name in test stat readlink umount mount; do
    mount --bind "$0/evil" "/usr/bin/$name"
done
exec "$@"
"""
BELOW = """
mount -t tmpfs image "$0"
for name in usr lib lib64 bin proc dev; do
    mkdir "$0/$name" && mount --rbind "/$name" "$0/$name"
done
exec chroot "$0" "$@"
"""


def test_a_namespace_that_its_account_made_is_not_entered(ask: Ask) -> None:
    """There the account decides what `test` and `mount` are: root would run its program, with all that root may do."""
    with reached_by_all() as yard:
        evil, ran = yard / "evil", yard / "ran"
        evil.write_text(
            f"#!/bin/dash\nwhile read -r _ _ all; do echo $all >>{ran}; done </proc/self/uid_map\n", "utf-8"
        )
        evil.chmod(0o755)
        ran.touch()
        ran.chmod(0o666)
        own = (*AS_ACCOUNT, "unshare", "--user", "--map-root-user", "--mount", "dash", "-c", OWN_PROGRAMS, str(yard))
        with lives(*own, "dash", "-c", "echo up; exec sleep 600") as server:
            for action in ("fits", "put"):
                assert "root enters none" in ask(action, server).stderr
            assert ask("lift", server).returncode == 0
        assert ALL not in ran.read_text("utf-8"), "root ran a program of the account's"


def test_a_container_is_not_entered(host: int, ask: Ask, tmp_path: Path) -> None:
    """Root made its namespaces; its programs are those of an image."""
    (tmp_path / "image").mkdir()
    image = ("sh", "-c", BELOW, str(tmp_path / "image"))
    with lives("nsenter", "--target", str(host), "--mount", *ALONE, *image) as server:
        assert "root enters none" in ask("fits", server).stderr


def test_a_mount_that_was_moved_with_its_folder_is_not_forgotten(host: int, ask: Ask) -> None:
    """The account renames a folder above, and makes another: nothing is given back until ours is gone."""
    with reached_by_all() as yard:
        folder = yard / "var" / "data"
        folder.mkdir(parents=True)
        before = mounts(host)
        assert ask("put", at=folder).returncode == 0
        in_host(host, "sh", "-c", 'mv "$0" "$0.old" && mkdir -p "$0/data"', str(folder.parent))
        assert "somebody has moved" in ask("lift", at=folder).stderr
        assert ask("gone", at=folder).returncode == 1
        in_host(host, "sh", "-c", 'rm -r "$0" && mv "$0.old" "$0"', str(folder.parent))
        assert ask("lift", at=folder).returncode == ask("gone", at=folder).returncode == 0
        assert mounts(host) == before


def test_a_mount_that_is_not_seen_for_a_moment_is_not_made_twice(host: int, ask: Ask) -> None:
    """The second would be noted in place of the first, which nobody would take away."""
    before = mounts(host)
    assert ask("put").returncode == 0
    again = ask("put", blind=True)
    assert again.returncode == 1
    assert "somebody has moved" in again.stderr
    assert len(mounts(host)) == len(before) + 1
    assert ask("lift").returncode == 0
    assert mounts(host) == before


def test_links_that_are_swapped_all_the_time_lead_nowhere(host: int, ask: Ask) -> None:
    """The account puts a link in place of the folder around its directory; root mounts and unmounts nothing else."""
    with reached_by_all() as yard:
        folder, elsewhere = yard / "var" / "data", yard / "elsewhere"
        for made in (folder, elsewhere / "data"):
            made.mkdir(parents=True)
        os.chown(yard, KAFKA, GROUP)
        in_host(host, "mount", "-t", "tmpfs", "theirs", str(elsewhere / "data"))
        before = mounts(host)
        with busy(
            'mv -T "$1" "$1.mine" && ln -s "$2" "$1"; rm "$1"; mv -T "$1.mine" "$1"', str(folder.parent), str(elsewhere)
        ):
            for _ in range(20):
                ask("put", at=folder)
                assert [one for one in mounts(host) if "elsewhere" in one] == [
                    one for one in before if "elsewhere" in one
                ]
                ask("lift", at=folder)
        mine = folder.parent.with_name("var.mine")
        if mine.exists():  # it was ended in the middle of a turn
            folder.parent.unlink(missing_ok=True)
            mine.rename(folder.parent)
        assert ask("lift", at=folder).returncode == 0
        assert mounts(host) == before
        in_host(host, "umount", str(elsewhere / "data"))
