"""Who is not root gets it through sudo, or one sentence: with the real sudo, as a user that is not root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosk.lab import privilege

from .conftest import TAG, remains

NOBODY = 65534

As = Callable[..., "subprocess.CompletedProcess[str]"]


def test_command_carries_what_sudo_drops(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sudo empties the environment: the state directory and where chaosk is come along as words."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    found = privilege.command(["status", "--name", "x"])
    assert found[:3] == ["sudo", "-n", "env"]
    assert f"CHAOSK_STATE={tmp_path}" in found
    assert f"PYTHONPATH={Path(privilege.__file__).parents[2]}:/somewhere" in found
    assert found[-6:] == ["-m", "chaosk", "lab", "status", "--name", "x"]


def test_files_go_to_who_called_sudo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Under sudo a file changes hands; without it, or with nonsense in the variables, nothing happens."""
    given: list[tuple[object, ...]] = []
    monkeypatch.setattr(os, "chown", lambda *words: given.append(words))
    privilege.give_to_caller(tmp_path)
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setenv("SUDO_GID", "not a number")
    privilege.give_to_caller(tmp_path)
    assert given == []
    monkeypatch.setenv("SUDO_GID", "1001")
    privilege.give_to_caller(tmp_path)
    assert given == [(tmp_path, 1000, 1001)]


@pytest.fixture
def as_nobody(tmp_path: Path) -> As:
    """``as_nobody(script, sudo="a sudoers line")`` runs Python as nobody, with a sudoers file only it sees."""
    python = next(one for one in (sys.executable, shutil.which("python3.11", path="/usr/bin") or "") if readable(one))

    def run(script: str, *words: str, sudo: str = "") -> subprocess.CompletedProcess[str]:
        sudoers = tmp_path / "sudoers"
        sudoers.write_text(f"Defaults env_reset\nroot ALL=(ALL:ALL) ALL\n{sudo}\n", encoding="ascii")
        sudoers.chmod(0o440)
        enter = 'mount --bind "$1" /etc/sudoers; shift; exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"'
        return subprocess.run(
            ["unshare", "--mount", "sh", "-ec", enter, "sh", str(sudoers), python, "-c", script, *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(packages()), "HOME": "/nonexistent", "KEPT": "yes"},
        )

    return run


def packages() -> list[str]:
    """Where chaosk and its dependencies are; not this Python's own modules, which fit no other one."""
    own = Path(sysconfig.get_paths()["stdlib"])
    return [
        path for path in sys.path if path and (not Path(path).is_relative_to(own.parent) or "site-packages" in path)
    ]


def readable(python: str) -> bool:
    """Whether a user that is not root can run this interpreter: one in root's home is out of reach."""
    argv = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "sh", "-c", '"$0" -c pass', python]
    return bool(python) and subprocess.run(argv, capture_output=True, check=False).returncode == 0


UP = """
import subprocess, sys
from chaosk.core.errors import ChaoskError
from chaosk.spec.lab_layout import LabLayout
from chaosk import lab
try:
    path = lab.up(LabLayout(name=sys.argv[1], brokers=1, zookeepers=1), print)
except ChaoskError as error:
    sys.exit(str(error))
key = (path.parent / "client_key").read_text()
print(lab.status(sys.argv[1]).healthy, len(key) > 100, path.read_text().splitlines()[0], flush=True)
subprocess.run([sys.executable, "-c", sys.argv[2], "chaosk-" + sys.argv[1]], check=True)
lab.down(sys.argv[1], print)
"""

ENTER = """
import os, socket, sys
from chaosk.lab import enter, namespace
enter(sys.argv[1])
socket.create_connection(("198.18.0.11", 9092), 5).close()
print(namespace.is_inside(sys.argv[1]), os.getuid(), os.environ["HOME"], os.environ["KEPT"], flush=True)
"""


@pytest.mark.lab
def test_without_sudo_it_is_one_sentence(as_nobody: As, own_state: Path) -> None:
    """A user that sudo refuses is told what to do; nothing was made."""
    done = as_nobody(UP, f"{TAG}r", ENTER)
    said = "the lab needs root, and sudo -n is refused; run chaosk as root or allow sudo without a password\n"
    assert (done.stdout, done.stderr) == ("", said)
    assert remains(own_state, f"{TAG}r") == []


@pytest.mark.lab
def test_with_sudo_a_user_has_a_lab_of_their_own(as_nobody: As, own_state: Path) -> None:
    """Up, status, the key, entering the network as oneself, down: all as a user that is not root."""
    name = f"{TAG}g"
    done = as_nobody(UP, name, ENTER, sudo=f"#{NOBODY} ALL=(ALL) NOPASSWD: ALL")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-3:] == [
        f"True True name: {name}",
        f"True {NOBODY} /nonexistent yes",
        f"lab {name}: down",
    ]
    assert remains(own_state, name) == []
