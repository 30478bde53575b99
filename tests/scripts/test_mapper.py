"""The script that gives a disk another table, with files of the test's own for the kernel's and for dmsetup."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from account import GROUP, KAFKA, reached_by_all

from chaosk.hosts.scripts import script

OWN, OTHER = "7b217c97-fb7b-47cf-ad39-26722c14383d", "3d90effe-efbf-4589-a7da-c0eda68908a8"
FIRST = {"ipc": 4026531839, "uts": 4026531838, "user": 4026531837, "pid": 4026531836, "cgroup": 4026531835}
TABLE = "0 8192 linear 254:0 2048"

pytestmark = pytest.mark.lab


@pytest.fixture
def yard() -> Iterator[Path]:
    """A folder that everybody reaches, and that is root's alone."""
    with reached_by_all() as made:
        yield made


def ask(kernel: Path, mounted: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the script on a host with a kernel of its own, one of whose disks is mounted there."""
    (kernel / "ns").mkdir()
    for kind, number in FIRST.items():
        (kernel / "ns" / kind).symlink_to(f"{kind}:[{number}]")
    (kernel / "boot_id").write_text(f"{OTHER}\n")
    (kernel / "mountinfo").write_text(f"36 35 254:9 / {mounted} rw - ext4 /dev/mapper/disk rw\n")
    (kernel / "254:9" / "dm").mkdir(parents=True)
    (kernel / "254:9" / "dm" / "name").write_text("disk\n")
    tool = kernel / "dmsetup"
    tool.write_text(f'#!/bin/sh\ncase $1 in table) echo "{TABLE}" ;; info) echo "L--w" ;; *) exit 1 ;; esac\n')
    tool.chmod(0o755)
    text = script("mapper")
    for real, made in (
        ("/proc/sys/kernel/random/boot_id", "boot_id"), ("/proc/self/ns", "ns"), ("/proc/self/mountinfo", "mountinfo"),
        ("/sys/dev/block", "."), ("/var/lib/chaosk", "kept"),
    ):  # fmt: skip
        assert real in text
        text = text.replace(real, str(kernel / made))
    argv = ["sh", "-c", text, "chaosk", words[0], OWN, "0a", str(mounted), "script", "/nonexistent", "", *words[1:]]
    env = {"PATH": f"{kernel}:{os.environ['PATH']}"}
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=20)


@pytest.mark.parametrize("action", ["fits", "put"])
@pytest.mark.parametrize("how", ["all", "writes"])
def test_what_is_mounted_again_is_in_a_folder_of_roots(tmp_path: Path, yard: Path, action: str, how: str) -> None:
    """Between two mounts whoever owns the folder could put a link in place of the mount point, to /etc for example."""
    (yard / "theirs" / "disk").mkdir(parents=True)
    os.chown(yard / "theirs", KAFKA, GROUP)
    done = ask(tmp_path, yard / "theirs" / "disk", action, how)
    assert done.returncode == 1
    assert f"{yard}/theirs is not root's alone" in done.stderr
    assert not (tmp_path / "kept" / "mapper").exists()


def test_what_stays_mounted_may_be_anywhere(tmp_path: Path, yard: Path) -> None:
    """A disk that is only slow is not mounted again."""
    (yard / "theirs" / "disk").mkdir(parents=True)
    os.chown(yard / "theirs", KAFKA, GROUP)
    assert "alone" not in ask(tmp_path, yard / "theirs" / "disk", "fits", "slow", "1", "1").stderr


def test_a_mount_point_in_a_folder_of_roots_is_none_to_refuse(tmp_path: Path, yard: Path) -> None:
    """What is in the way then is something else."""
    (yard / "disk").mkdir()
    assert "alone" not in ask(tmp_path, yard / "disk", "fits", "all").stderr
