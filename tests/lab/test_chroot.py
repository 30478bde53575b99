"""The lab where / is no mount: in a chroot, as debootstrap makes them and build machines use them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import chaosk
from chaosk.lab import preflight

from .conftest import TAG

pytestmark = pytest.mark.long

ROOT = r"""
set -eu
home=$1 jars=$2
mount -t tmpfs tmpfs "$home"
root=$home/root
mkdir "$root"
for path in /*; do
  case $path in
    /etc) cp -a /etc "$root/etc" ;;
    /var | /run | /tmp | /home) mkdir "$root$path" ;;
    /proc) mkdir "$root/proc" && mount -t proc proc "$root/proc" ;;
    *)
      if [ -L "$path" ]; then cp -a "$path" "$root$path"
      elif [ -d "$path" ]; then mkdir "$root$path" && mount --rbind "$path" "$root$path"
      fi ;;
  esac
done
for path in "$CHECKOUT" "$ENVIRONMENT"; do # they may lie below what is left out above
  [ -e "$root$path" ] || { mkdir -p "$root$path" && mount --rbind "$path" "$root$path"; }
done
mkdir -p "$root/var/lib/chaosk/kafka" "$root/run/sshd"
mount --bind "$jars" "$root/var/lib/chaosk/kafka"
shift 2
exec chroot "$root" "$@"
"""

WORK = r"""
set -eu
name=$1
shift
"$@" lab up --name "$name" --brokers 1 --zookeepers 1 >/dev/null
"$@" lab status --name "$name"
"$@" lab logs node1 broker -n 1 --name "$name" | grep -c kafka
echo 'sudo -n id -un; ls /var/lib/chaosk | wc -l; exit' | "$@" lab shell node1 --name "$name" 2>/dev/null
"$@" lab down --name "$name"
ls -A /var/lib/chaosk/labs | wc -l
ls -A /run/netns 2>/dev/null | wc -l
"""


def where() -> dict[str, str]:
    """The environment, with where this checkout and its virtual environment are."""
    return os.environ | {"CHECKOUT": str(Path(chaosk.__file__).parents[1]), "ENVIRONMENT": sys.prefix}


def in_chroot(tmp_path: Path, jars: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a root that is a plain directory, with processes and mounts of its own."""
    (tmp_path / "home").mkdir()
    source = f"PYTHONPATH={Path(chaosk.__file__).parents[1]}"
    own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ROOT, "sh"]
    words = [*own, str(tmp_path / "home"), str(jars), "env", "-u", "CHAOSK_STATE", "-C", "/", source, *argv]
    return subprocess.run(words, capture_output=True, text=True, timeout=200, check=False, env=where())


@pytest.mark.lab
def test_a_lab_in_a_chroot(tmp_path: Path, own_state: Path) -> None:
    """Up, status, logs, shell, down: all work, and nothing is left inside; the machine sees nothing of it."""
    before = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    jars = (own_state / "kafka").resolve()
    done = in_chroot(tmp_path, jars, "sh", "-c", WORK, "sh", f"{TAG}c", sys.executable, "-m", "chaosk")
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout.splitlines()
    assert any(line.split()[:4] == ["node1", "198.18.0.11", "answers", "zookeeper"] for line in told), told
    assert told[-6:] == ["1", "root", "0", f"lab {TAG}c: down", "0", "0"]
    assert not [line for line in Path("/proc/self/mountinfo").read_text("utf-8").splitlines() if f"{TAG}c" in line]
    assert str(tmp_path) not in before


@pytest.mark.lab
def test_a_chroot_is_recognised(tmp_path: Path, own_state: Path) -> None:
    """The kernel tells whether / is a mount; Python's own ``ismount`` says yes in a chroot too."""
    script = "from chaosk.lab import preflight; print(preflight.in_chroot())"
    done = in_chroot(tmp_path, (own_state / "kafka").resolve(), sys.executable, "-c", script)
    assert done.stdout == "True\n", done.stderr
    inside = subprocess.run(["stat", "-c", "%m", "/"], capture_output=True, text=True, check=True).stdout
    assert preflight.in_chroot() is (inside != "/\n")


@pytest.mark.lab
def test_a_chroot_that_shares_its_mounts_is_refused(tmp_path: Path, own_state: Path) -> None:
    """Where the lab's mounts would show outside, it says what to do, and has made nothing."""
    (tmp_path / "home").mkdir()
    shared = ROOT.replace("root=$home/root", 'mount --make-shared "$home"; root=$home/root')
    own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", shared, "sh", str(tmp_path / "home")]
    words = ["env", "-u", "CHAOSK_STATE", "-C", "/", f"PYTHONPATH={Path(chaosk.__file__).parents[1]}"]
    up = [sys.executable, "-m", "chaosk", "lab", "up", "--name", f"{TAG}h", "--brokers", "1", "--zookeepers", "1"]
    jars = str((own_state / "kafka").resolve())
    command = [*own, jars, *words, *up]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=where())
    assert done.returncode == 69
    assert "the lab's mounts would show outside this chroot; before entering it do: mount --bind DIR DIR" in done.stderr
