"""What the lab's tests share: a small lab that is up, and a way to see whether one is really gone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from chaosk import lab
from chaosk.lab import jars, namespace_hosts, state
from chaosk.spec.lab_layout import LabLayout

TAG = f"t{os.getpid() % 1_000_000}"
"""Begins the name of every lab of these tests: runs side by side do not meet."""


@pytest.fixture(scope="session")
def own_state(while_folder_runs: ExitStack) -> Path:
    """A state directory of the tests' own, with the machine's jars in it; every lab left in it is taken down.

    Not below pytest's own: that is closed to other users, and one of the tests is somebody else.
    """
    layout = LabLayout()
    cached = jars.ensure(layout.kafka, jars.dependencies(layout.kafka), print)
    root = Path(tempfile.mkdtemp(prefix="chaosk-tests-"))
    root.chmod(0o755)
    (root / "kafka").symlink_to(cached.parent)
    while_folder_runs.callback(_emptied, root)
    return root


def _emptied(root: Path) -> None:
    with within(root):
        for name in state.names():
            lab.down(name, print, force=True)
    shutil.rmtree(root)


@contextmanager
def within(root: Path) -> Iterator[None]:
    """With this state directory: never for longer, or tests of other folders would look for their labs there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAOSK_STATE", str(root))
        yield


@pytest.fixture(autouse=True)
def in_own_state(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whoever asks for the tests' own state directory works in it."""
    if "own_state" not in request.fixturenames:
        yield
        return
    with within(request.getfixturevalue("own_state")):
        yield


@pytest.fixture(scope="session")
def small(own_state: Path) -> LabLayout:
    """A lab of one host with one broker, which has two data directories, and one ZooKeeper node, up."""
    layout = LabLayout(
        name=f"{TAG}s", brokers=1, zookeepers=1, data_dirs=2, racks=("attic",),
        broker_config={"num.io.threads": "3"}, broker_overrides={0: {"num.io.threads": "2"}},
    )  # fmt: skip
    with within(own_state):
        lab.up(layout, print)
    return layout


@pytest.fixture
def whole(small: LabLayout) -> LabLayout:
    """The small lab, made whole again should the test before have broken it."""
    lab.up(small, print)
    return small


Ssh = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def ssh(whole: LabLayout) -> Ssh:
    """``ssh("words for the remote shell", *options)`` to node1 as ops, with the lab's own key and known hosts."""

    def run(
        remote: str, *options: str, user: str = "ops", host: str = "198.18.0.11"
    ) -> subprocess.CompletedProcess[str]:
        at = state.of(whole.name)
        return subprocess.run(
            [
                *("nsenter", f"--net={at.namespace_file}", "ssh", "-F", "none", *options),
                *("-i", str(at.directory / "client_key"), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"),
                *("-o", f"UserKnownHostsFile={at.directory / 'known_hosts'}", "-o", "StrictHostKeyChecking=yes"),
                *(f"{user}@{host}", remote),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


OnHost = Callable[..., str]


@pytest.fixture
def on_host(whole: LabLayout) -> OnHost:
    """``on_host("word", ...)`` runs a command as root on node1 of the small lab, without SSH."""
    kind = namespace_hosts.NamespaceHosts(state.of(whole.name))
    return lambda *argv: kind.on_host("node1", argv, timeout=180)


def chaosk(*words: str, stdin: str = "") -> subprocess.Popen[str]:
    """``chaosk WORDS`` as a process of its own, ``stdin`` (little) written to it, all its output in one pipe."""
    process = subprocess.Popen(
        [sys.executable, "-m", "chaosk", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdin
    process.stdin.write(stdin)
    process.stdin.close()
    process.stdin = None
    return process


def remains(root: Path, name: str) -> list[str]:
    """Everything on this machine that still belongs to the lab ``name`` under the state directory ``root``."""
    at = state.LabState(root, name)
    found = [str(path) for path in (at.directory, at.lock, at.namespace_file) if path.exists()]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(at.directory) in (process / "mountinfo").read_text(encoding="utf-8"):
                found.append(f"{process.name}: a mount")
            if str(at.directory).encode() in (process / "cmdline").read_bytes():
                found.append(f"{process.name}: its command line")
            if any(str(link.readlink()).startswith(f"{at.directory}/") for link in (process / "fd").iterdir()):
                found.append(f"{process.name}: an open file")
        except OSError:
            continue  # ended meanwhile, or guarded
    return found
