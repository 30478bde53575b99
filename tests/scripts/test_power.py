"""The script that throws a host's power switch, with a switch that is a file and an SSH server that is a socket."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaosk.hosts.scripts import script

pytestmark = pytest.mark.long

Ask = Callable[..., subprocess.CompletedProcess[str]]


class Server:
    """Greets as an SSH server does while it is up."""

    def __init__(self) -> None:
        self.up = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = str(self._socket.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._socket.accept()
            except OSError:
                return
            with caller:
                if self.up.is_set():
                    caller.sendall(b"SSH-2.0-test\r\n")

    def close(self) -> None:
        """No more."""
        self._socket.close()


@pytest.fixture
def server() -> Iterator[Server]:
    """One that is down."""
    made = Server()
    yield made
    made.close()


@pytest.fixture
def ask(tmp_path: Path, server: Server) -> Ask:
    """Runs the script on that host; what its switch was told is in ``told``."""
    power = tmp_path / "power"
    power.write_text("Chassis Power is on\n")

    def run(action: str, *words: str, state: str = f"cat {power}") -> subprocess.CompletedProcess[str]:
        switch = [f"echo {what} >>{tmp_path}/told; echo Chassis Power is {what} >{power}" for what in ("off", "on")]
        argv = ["sh", "-c", script("power"), "chaosk", action, "127.0.0.1", server.port, state, *switch, *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)

    return run


def told(tmp_path: Path) -> str:
    """What the switch was told, in order."""
    path = tmp_path / "told"
    return path.read_text().replace("\n", " ").strip() if path.exists() else ""


@pytest.mark.parametrize(
    ("says", "power"),
    [
        ("Chassis Power is on", "is-on"), ("running", "is-on"), ("status: running", "is-on"), ("ON\n", "is-on"),
        ("Chassis Power is off", "is-off"), ("shut off", "is-off"), ("status: stopped", "is-off"),
        ("crashed", "is-off"),
    ],
)  # fmt: skip
def test_what_the_usual_programs_say(ask: Ask, says: str, power: str) -> None:
    """ipmitool, virsh, qm: their last word; the other question is answered with no."""
    other = {"is-on": "is-off", "is-off": "is-on"}[power]
    assert ask(power, state=f"echo '{says}'").returncode == 0
    assert ask(other, state=f"echo '{says}'").returncode == 1


@pytest.mark.parametrize("state", ["echo pausing", "true", "echo on; false", "echo off; exit 3", "nosuchprogram"])
def test_what_nobody_can_tell_is_neither(ask: Ask, state: str) -> None:
    """A switch that does not answer must not pass for one that is off, nor on."""
    for question in ("is-on", "is-off"):
        done = ask(question, state=state)
        assert done.returncode == 1
        assert "neither on nor off" in done.stderr


def test_off_and_on_each_once(ask: Ask, tmp_path: Path) -> None:
    """Done twice is as done once: a switch that toggles would do harm."""
    for action in ("off", "off", "on", "on"):
        assert ask(action).returncode == 0
    assert told(tmp_path) == "off on"


def test_a_switch_that_does_nothing_is_noticed(ask: Ask) -> None:
    """The command ends with 0, and the power stays as it was."""
    done = ask("off", state="echo on")
    assert done.returncode == 1
    assert "does not say off" in done.stderr


def test_a_host_that_answers_is_left_alone(ask: Ask, server: Server, tmp_path: Path) -> None:
    """Whatever its switch says."""
    server.up.set()
    assert ask("answers").returncode == 0
    assert ask("silent").returncode == 1
    assert ask("revive", "0", "1").returncode == 0
    assert told(tmp_path) == ""


def test_silence(ask: Ask) -> None:
    """A port that is open, and no greeting of SSH: nobody is there."""
    assert ask("answers").returncode == 1
    assert ask("silent").returncode == 0


def test_one_that_is_off_is_switched_on(ask: Ask, server: Server, tmp_path: Path) -> None:
    """And waited for."""
    assert ask("off").returncode == 0
    threading.Timer(1.5, server.up.set).start()
    assert ask("revive", "0", "20").returncode == 0
    assert told(tmp_path) == "off on"


def test_one_that_hangs_is_switched_off_and_on_after_its_time(ask: Ask, server: Server, tmp_path: Path) -> None:
    """Not before: it may be booting. One that comes back in time is left alone."""
    threading.Timer(1.0, server.up.set).start()
    assert ask("revive", "20", "20").returncode == 0
    assert told(tmp_path) == ""
    server.up.clear()
    threading.Timer(2.5, server.up.set).start()
    assert ask("revive", "1", "20").returncode == 0
    assert told(tmp_path) == "off on"


def test_one_that_stays_silent_is_not_healed(ask: Ask) -> None:
    """It fails, and says where nobody answers."""
    done = ask("revive", "0", "1")
    assert done.returncode == 1
    assert "no SSH server answers at 127.0.0.1" in done.stderr
