"""Network namespaces: made, entered, removed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaosk.core.errors import LabError
from chaosk.lab import namespace, runner

NAME = f"chaosk-n{os.getpid()}"
FILE = Path("/run/netns") / NAME


@pytest.fixture
def made() -> Iterator[Path]:
    """A network namespace of this test."""
    namespace.make(FILE)
    yield FILE
    namespace.remove(FILE)


def test_the_command_that_starts_again() -> None:
    """Without root: the same program, user, path and home, inside the namespace; nothing is read by a shell."""
    environment = {"PATH": "/my/bin", "HOME": "/home/me", "PASSWORD": "not for everyone to see"}
    found = namespace.again("chaosk-x", ["python", "-m", "chaosk", "run", "a b; c"], environment)
    assert found[:5] == ["sudo", "-n", "-E", "nsenter", "--net=/run/netns/chaosk-x"]
    assert found[5:9] == ["setpriv", f"--reuid={os.getuid()}", f"--regid={os.getgid()}", "--init-groups"]
    assert found[9:] == [
        *("env", "PATH=/my/bin", "HOME=/home/me", sys.executable),
        *("-m", "chaosk", "run", "a b; c"),
    ]


def test_a_namespace_that_is_not_there() -> None:
    """Entering nowhere is one clear error, and nobody is inside it."""
    with pytest.raises(LabError, match="there is no network namespace chaosk-nowhere; do: chaosk lab up"):
        namespace.enter("chaosk-nowhere")
    assert not namespace.is_inside("chaosk-nowhere")


@pytest.mark.lab
def test_it_goes_though_ip_mounted_the_folder_onto_itself(tmp_path: Path) -> None:
    """As the first ``ip netns add`` of a machine does, while a lab is up; the name of another one stays and serves."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    namespace.make(ours)
    try:
        runner.run(["mount", "--rbind", str(tmp_path), str(tmp_path)])
        try:
            runner.run(["mount", "--make-shared", str(tmp_path)])
            namespace.make(theirs)
            namespace.remove(ours)
            assert list(tmp_path.iterdir()) == [theirs]
            namespace.check(theirs)
            assert str(ours) not in Path("/proc/self/mountinfo").read_text("utf-8")
            namespace.remove(theirs)
        finally:
            runner.run(["umount", "-l", str(tmp_path)])
    finally:
        namespace.remove(ours)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.lab
def test_inside_is_one_thread_only(made: Path) -> None:
    """The work happens in there; the caller, and threads it starts, stay outside."""

    def links() -> set[str]:
        devices = {path.name for path in Path("/proc/thread-self/net/dev_snmp6").iterdir()}
        return devices | {str(Path("/proc/thread-self/ns/net").readlink())}

    before = links()
    assert namespace.inside(NAME, lambda: namespace.is_inside(NAME))
    assert namespace.inside(NAME, links).isdisjoint(before - {"lo"})
    assert links() == before
    assert made.exists()


@pytest.mark.lab
def test_inside_hands_errors_over(made: Path) -> None:
    """What the work raises reaches the caller as it is."""
    assert made.exists()
    with pytest.raises(ZeroDivisionError):
        namespace.inside(NAME, lambda: 1 // 0)
    with pytest.raises(LabError, match="there is no network namespace chaosk-nowhere"):
        namespace.inside("chaosk-nowhere", lambda: None)


@pytest.mark.lab
def test_enter_moves_the_process_and_its_children(made: Path) -> None:
    """After it, threads and processes are inside; a second call does nothing."""
    script = (
        "import sys, threading, subprocess, os\n"
        "from chaosk.lab import namespace\n"
        "namespace.enter(sys.argv[1]); namespace.enter(sys.argv[1])\n"
        "found = []\n"
        "thread = threading.Thread(target=lambda: found.append(namespace.is_inside(sys.argv[1])))\n"
        "thread.start(); thread.join()\n"
        "links = subprocess.run(['ip', '-o', 'link'], capture_output=True, text=True).stdout\n"
        "print(namespace.is_inside(sys.argv[1]), *found, len(links.splitlines()))\n"
    )
    done = subprocess.run([sys.executable, "-c", script, NAME], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True True 1\n", "")
    assert made.exists()


@pytest.fixture
def named(made: Path) -> Iterator[None]:
    """The namespace has a name of its own for an address in it."""
    runner.directory(namespace.NAMES / made.name)
    runner.write(namespace.NAMES / made.name / "hosts", "198.18.0.11 broker.x.test\n")
    yield
    namespace.forget_names(namespace.NAMES / made.name / "hosts")
    assert not (namespace.NAMES / made.name).exists()


_ASK = "import socket; print(socket.gethostbyname('broker.x.test'))"


@pytest.mark.lab
@pytest.mark.usefixtures("named")
def test_names_of_a_namespace_are_known_inside_and_nowhere_else() -> None:
    """To one thread, to a process and what it starts, and to one that sudo brings there; /etc/hosts is what it was."""
    before = Path("/etc/hosts").read_bytes()
    assert namespace.inside(NAME, lambda: socket.gethostbyname("broker.x.test")) == "198.18.0.11"
    with pytest.raises(socket.gaierror):
        socket.gethostbyname("broker.x.test")
    script = (
        "import subprocess, sys; from chaosk.lab import namespace; namespace.enter(sys.argv[1])\n"
        "sys.exit(subprocess.run([sys.executable, '-c', sys.argv[2]]).returncode)"
    )
    for command in (
        [sys.executable, "-c", script, NAME, _ASK],
        ["ip", "netns", "exec", NAME, sys.executable, "-c", _ASK],
        namespace.again(NAME, ["python", "-c", _ASK], os.environ),
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("198.18.0.11\n", "")
    assert Path("/etc/hosts").read_bytes() == before


@pytest.mark.lab
def test_a_new_namespace_has_no_way_out(made: Path) -> None:
    """It has a loopback and no routes; the name is one that ``ip netns`` knows."""
    assert runner.run(["ip", "-n", made.name, "route"]) == ""
    assert NAME in runner.run(["ip", "netns", "list"])


@pytest.mark.lab
def test_a_way_out_is_refused(made: Path) -> None:
    """A namespace with a default route is never used for a lab."""
    runner.run(["ip", "-n", NAME, "link", "set", "lo", "up"])
    runner.run(["ip", "-n", NAME, "route", "add", "default", "dev", "lo"])
    with pytest.raises(LabError, match=f"{NAME} has a way out"):
        namespace.check(made)


@pytest.mark.lab
def test_remove_twice_and_after_two_mounts(made: Path) -> None:
    """Whatever an interrupted start left behind under the name is gone afterwards."""
    runner.run(["unshare", f"--net={made}", "true"])
    namespace.remove(made)
    assert not made.exists()
    namespace.remove(made)


@pytest.mark.lab
def test_a_name_that_is_taken(made: Path) -> None:
    """Somebody else's namespace is not mounted over."""
    with pytest.raises(LabError, match=f"{NAME} exists and is not this lab's; do: ip netns delete {NAME}"):
        namespace.make(made)


@pytest.mark.lab
def test_the_name_of_a_namespace_that_is_no_more() -> None:
    """Where /run outlives a reboot there is a plain file under the name; it is used again."""
    runner.directory(FILE.parent)
    FILE.touch(mode=0o444)
    try:
        namespace.make(FILE)
        assert os.path.ismount(FILE)
    finally:
        namespace.remove(FILE)
    assert not FILE.exists()


@pytest.mark.lab
def test_without_root_and_without_sudo(made: Path) -> None:
    """A user that sudo refuses gets one sentence, not a traceback and not a prompt."""
    script = (
        "import os, sys\n"
        "from chaosk.core.errors import LabError\n"
        "from chaosk.lab import namespace\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try:\n"
        "    namespace.enter(sys.argv[1])\n"
        "except LabError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, made.name], capture_output=True, text=True, check=False)
    assert done.stdout == f"only root can enter the network namespace {NAME}, and sudo -n is refused; run as root\n"
    assert done.stderr == ""


def test_threads_see_the_same_answer() -> None:
    """Whether we are inside is asked of the calling thread."""
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(namespace.is_inside("chaosk-nowhere")))
    thread.start()
    thread.join()
    assert found == [False]
