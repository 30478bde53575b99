"""Taking labs down: nothing is left, whatever happened before, and nothing of the machine was touched."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosk import lab
from chaosk.core.errors import LabError
from chaosk.lab import namespace, state
from chaosk.spec.lab_layout import LabLayout

from .conftest import TAG, chaosk, remains

pytestmark = [pytest.mark.lab, pytest.mark.long]

DELAYS = [round(random.Random(4711 + number).uniform(0.3, 3.5), 2) for number in range(6)]  # noqa: S311 - seeded


def machine() -> dict[str, object]:
    """What a lab must never change on the machine."""
    texts = {path: Path(path).read_bytes() for path in ("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/shadow")}
    shown: dict[str, object] = {
        " ".join(argv): subprocess.run(argv, capture_output=True, check=True).stdout
        for argv in (["ip", "-o", "link"], ["ip", "-4", "route", "show", "table", "all"])
    }
    rules = subprocess.run(["iptables-save"], capture_output=True, check=True).stdout
    counted = re.compile(rb"\[\d+:\d+\]|# .*")
    folders = {path: sorted(Path(path).iterdir()) for path in ("/opt", "/home", "/var/lib", "/var/log", "/etc/ssh")}
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()]
    steady = sorted(path for path in mounts if not path.startswith("/run/netns"))
    return {**texts, **shown, "rules": counted.sub(b"", rules), **folders, "mounts": steady}


def test_down_leaves_nothing(own_state: Path) -> None:
    """Up, then down: no process, namespace, mount, link, file; and the machine is as it was, at every moment."""
    layout = LabLayout(name=f"{TAG}d", brokers=1, zookeepers=1)
    before = machine()
    lab.up(layout, print)
    assert machine() == before
    assert remains(own_state, layout.name) != []
    lab.down(layout.name, print)
    assert remains(own_state, layout.name) == []
    assert machine() == before


def test_down_twice_is_fine(own_state: Path) -> None:
    """A lab that is not there is down already."""
    said: list[str] = []
    lab.down(f"{TAG}n", said.append)
    assert said == [f"lab {TAG}n: is not up"]
    assert remains(own_state, f"{TAG}n") == []


@pytest.mark.parametrize("delay", DELAYS)
def test_down_after_up_was_killed(own_state: Path, delay: float) -> None:
    """``up`` killed with SIGKILL at some moment: ``down`` finds everything there is by then, and takes it away."""
    name = f"{TAG}k"
    with chaosk("lab", "up", "--name", name, "--brokers", "1", "--zookeepers", "1") as process:
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
    lab.down(name, print)
    assert remains(own_state, name) == []


def test_up_after_up_was_killed(own_state: Path) -> None:
    """A half-made lab does not stand in the way of the next ``up``: it ends healthy."""
    layout = LabLayout(name=f"{TAG}u", brokers=1, zookeepers=1)
    with chaosk("lab", "up", "--name", layout.name, "--brokers", "1", "--zookeepers", "1") as process:
        eventually(state.of(layout.name).layout.exists)
        process.send_signal(signal.SIGKILL)
    try:
        lab.up(layout, print)
        assert lab.status(layout.name).healthy
    finally:
        lab.down(layout.name, print)
    assert remains(own_state, layout.name) == []


def eventually(question: Callable[[], object], seconds: float = 20) -> None:
    """Wait until ``question`` is answered with yes."""
    deadline = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def test_a_lab_whose_keeper_died_is_put_up_anew(own_state: Path) -> None:
    """When the keeper is killed, the kernel ends all hosts; ``status`` says so and ``up`` starts from nothing."""
    layout = LabLayout(name=f"{TAG}q", brokers=1, zookeepers=1)
    lab.up(layout, print)
    try:
        os.kill(int(state.of(layout.name).keeper("pid").read_text(encoding="ascii")), signal.SIGKILL)
        eventually(lambda: not lab.status(layout.name).up)
        lab.up(layout, print)
        assert lab.status(layout.name).healthy
    finally:
        lab.down(layout.name, print)
    assert remains(own_state, layout.name) == []


def test_two_at_once_and_two_names_side_by_side(own_state: Path, whole: LabLayout) -> None:
    """Two ``up`` of one name: one works, the other waits. Another lab with the same addresses is not disturbed."""
    name = f"{TAG}p"
    words = ("lab", "up", "--name", name, "--brokers", "1", "--zookeepers", "1")
    with chaosk(*words) as one, chaosk(*words) as other:
        told = [process.communicate(timeout=90)[0] for process in (one, other)]
    assert (one.returncode, other.returncode) == (0, 0), told
    assert sum(text.count("making 1 host") for text in told) == 1, told
    assert lab.status(name).healthy
    assert lab.status(whole.name).healthy
    lab.down(name, print)
    assert remains(own_state, name) == []
    assert lab.status(whole.name).healthy


def test_a_lab_in_use_is_not_taken_away(whole: LabLayout) -> None:
    """While an experiment is in its network, ``down`` names it and leaves the lab alone."""
    guest = subprocess.Popen(["ip", "netns", "exec", state.of(whole.name).namespace, "sleep", "600"])
    try:
        eventually(lambda: Path(f"/proc/{guest.pid}/cmdline").read_bytes().startswith(b"sleep"))
        with pytest.raises(LabError, match=rf"in use by {guest.pid} sleep 600; end that first, or add --force"):
            lab.down(whole.name, print)
    finally:
        guest.kill()
        guest.wait()
    assert lab.status(whole.name).healthy


def test_a_guest_that_is_leaving_is_waited_for(own_state: Path) -> None:
    """What a run leaves for a moment, a JVM that is ending, is no reason to refuse."""
    layout = LabLayout(name=f"{TAG}j", brokers=1, zookeepers=1)
    lab.up(layout, print)
    guest = subprocess.Popen(["ip", "netns", "exec", state.of(layout.name).namespace, "sleep", "600"])
    threading.Timer(1.5, guest.kill).start()
    lab.down(layout.name, print)
    assert guest.wait() == -signal.SIGKILL
    assert remains(own_state, layout.name) == []


def test_who_is_inside_may_take_it_down(own_state: Path) -> None:
    """A run that brought up its own lab takes it down from inside its network."""
    layout = LabLayout(name=f"{TAG}i", brokers=1, zookeepers=1)
    lab.up(layout, print)
    namespace.inside(state.of(layout.name).namespace, lambda: lab.down(layout.name, print))
    assert remains(own_state, layout.name) == []
