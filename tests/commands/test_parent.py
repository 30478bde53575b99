"""Who starts a server again that scripts start, and that it is kept from it while a kill lasts: on real processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chaosk.hosts.commands import service, supervisor
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import ScriptService, ServerProcess

LEASE = "run-1.kill"
SERVER = 'PYTHONHOME={home} "{java}" -c "import signal; signal.pause()" {config} & echo $! >{pid}; wait "$!"'
"""Starts a server, writes down which it is, and waits for it."""
AGAIN = "while [ -e {on} ]; do {body}; echo again >>{starts}; sleep 0.3; done"


@dataclass
class Host:
    """A folder with a server's files, and whoever is around that server."""

    root: Path
    java: str
    around: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def words(self) -> dict[str, str]:
        """For the scripts above."""
        names = {name: str(self.root / name) for name in ("on", "starts", "config", "pid")}
        return {**names, "java": self.java, "home": sys.base_prefix}

    @property
    def server(self) -> ServerProcess:
        """As an inventory has it; its start script says that it was called, and starts one that has no loop."""
        begin = f"echo by-script >>{self.root}/starts; setsid sh -c '{SERVER.format(**self.words)}' >/dev/null 2>&1 &"
        scripts = ScriptService(start=("sh", "-c", begin), stop=("true",), pid_file=str(self.root / "pid"))
        return ServerProcess(host="node1", service=scripts, config=str(self.root / "config"))

    @property
    def pid(self) -> int:
        """Of the server that was started last."""
        return int((self.root / "pid").read_text())

    @property
    def starts(self) -> list[str]:
        """By whom it was started again, in order."""
        file = self.root / "starts"
        return file.read_text().split() if file.exists() else []

    def begin(self, text: str) -> int:
        """Start a script around the server, and wait for the server."""
        shell = subprocess.Popen(["sh", "-c", text], start_new_session=True)
        self.around.append(shell)
        self.until(service.is_running(self.server))
        return shell.pid

    def loop(self) -> int:
        """Start a server in a loop that starts it again."""
        (self.root / "on").touch()
        return self.begin(AGAIN.format(**self.words, body=SERVER.format(**self.words)))

    def ask(self, command: Command) -> subprocess.CompletedProcess[str]:
        """Run a command as on the host, under the lease."""
        kept = self.root / "kept"
        env = {**os.environ, "CHAOSK_KEPT": str(kept), "CHAOSK_LEASE": str(kept / "leases" / LEASE)}
        return subprocess.run(command.argv, capture_output=True, text=True, check=False, env=env)

    def done(self, command: Command) -> str:
        """Run a command that has to succeed; what it says."""
        answer = self.ask(command)
        assert answer.returncode == 0, answer
        return answer.stdout.strip()

    def until(self, query: Command) -> None:
        """Wait until a query holds."""
        end = time.monotonic() + 20
        while (answer := self.ask(query)).returncode != 0:
            assert time.monotonic() < end, answer
            time.sleep(0.05)

    def killed(self) -> None:
        """Hold whoever is around the server, kill it, and see that it is gone."""
        self.done(supervisor.held(self.server, LEASE).put)
        self.done(service.kill(self.server))
        self.until(service.is_gone(self.server))


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """One with nothing on it yet; whatever was started there is ended."""
    (tmp_path / "kept" / "leases" / LEASE).mkdir(parents=True)
    (tmp_path / "config").touch()
    found = Host(tmp_path, str(shutil.copy(Path(sys.executable).resolve(), tmp_path / "java")))
    yield found
    (tmp_path / "on").unlink(missing_ok=True)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(tmp_path) in (process / "cmdline").read_text():
                os.kill(int(process.name), signal.SIGKILL)
        except (OSError, UnicodeDecodeError):
            continue
    for shell in found.around:
        shell.wait()


def state(pid: int) -> str:
    """The letter of proc(5)."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_loop_is_held_while_its_server_is_down(host: Host) -> None:
    """It is stopped, starts nothing, goes on when it is released, and is the one that starts the server again."""
    loop = host.loop()
    assert f"process {loop} (sh)" in host.done(supervisor.held(host.server, LEASE).fits)
    before = host.pid
    host.killed()
    assert state(loop) == "T"
    time.sleep(1)  # thrice as long as the loop waits
    assert host.starts == []
    host.done(service.is_gone(host.server))
    host.done(supervisor.held(host.server, LEASE).stands)
    assert host.ask(supervisor.held(host.server, LEASE).gone).returncode == 1
    host.done(supervisor.held(host.server, LEASE).lift)
    host.done(service.start(host.server))
    host.done(supervisor.held(host.server, LEASE).gone)
    assert host.starts == ["again"]
    assert host.pid != before


def test_a_start_lets_a_loop_go_on(host: Host) -> None:
    """A step that starts what another has killed ends that: the loop brings it back, and there is no second one."""
    host.loop()
    host.killed()
    host.done(service.start(host.server))
    assert host.starts == ["again"]


def test_a_start_waits_for_a_loop_that_was_left_to_itself(host: Host) -> None:
    """A supervised kill stops nobody; its undo, while the loop still waits, does not start a second server."""
    loop = host.loop()
    noted = supervisor.note(host.server, LEASE)
    assert noted is not None
    host.done(noted)
    assert state(loop) != "T"
    host.done(service.kill(host.server))
    host.done(service.start(host.server))
    assert host.starts == ["again"]


def test_a_loop_that_was_let_go_by_others_is_told(host: Host) -> None:
    """Somebody sends it SIGCONT while the fault lasts: it is not held, and the server is not gone."""
    loop = host.loop()
    host.killed()
    os.kill(loop, signal.SIGCONT)
    host.until(service.is_running(host.server))
    answer = host.ask(supervisor.held(host.server, LEASE).stands)
    assert answer.returncode == 1
    assert f"process {loop} (sh) goes on" in answer.stderr
    assert host.ask(service.is_gone(host.server)).returncode == 1


def test_a_hold_is_done_twice(host: Host) -> None:
    """A connection that broke has it sent again; the comparison after a run would see it; somebody else's stays so."""
    loop = host.loop()
    host.done(supervisor.held(host.server, LEASE).put)
    host.done(supervisor.held(host.server, LEASE).put)
    compared = Command(host="node1", argv=("sh", "-c", script("state"), "chaosk", "script", host.words["pid"]))
    assert "running, and the process around it is frozen" in host.done(compared)
    host.done(supervisor.held(host.server, LEASE).lift)
    assert state(loop) != "T"
    assert host.done(compared).endswith(" running")
    (host.root / "kept" / "leases" / LEASE / "around").unlink()
    os.kill(loop, signal.SIGSTOP)
    answer = host.ask(supervisor.held(host.server, LEASE).put)
    assert answer.returncode == 1
    assert "is stopped already, and not by this run" in answer.stderr
    os.kill(loop, signal.SIGCONT)


def test_a_script_in_a_loop_is_held_in_its_stead(host: Host) -> None:
    """A loop waits for a shell, which waits for the server and is what the pid file names: the shell is stopped."""
    (host.root / "on").touch()
    script = host.root / "server-start.sh"
    run = 'PYTHONHOME={home} "{java}" -c \'import signal; signal.pause()\' "$1"'
    script.write_text("echo $$ >{pid}\n".format(**host.words) + run.format(**host.words) + "\nexit $?\n")
    host.begin(AGAIN.format(**host.words, body=f"sh {script} {host.words['config']}"))
    shell = host.pid
    host.killed()
    assert state(shell) == "T"
    time.sleep(1)
    assert host.starts == []
    host.done(supervisor.held(host.server, LEASE).lift)
    host.done(service.start(host.server))
    assert host.starts == ["again"]


def test_a_script_with_no_loop_does_not_delay_a_start(host: Host) -> None:
    """It ends as its server has, and nobody starts another: the start does, at once."""
    subprocess.run(["sh", "-c", 'setsid sh -c "$0" &', SERVER.format(**host.words)], check=True)  # a child of nobody's
    host.until(service.is_running(host.server))
    host.killed()
    host.done(supervisor.held(host.server, LEASE).lift)
    began = time.monotonic()
    host.done(service.start(host.server))
    assert host.starts == ["by-script"]
    assert time.monotonic() - began < 25  # it would wait 30 s for a loop


def test_who_has_other_children_is_not_stopped(host: Host) -> None:
    """A supervisor of several servers would leave the others alone; a shell of somebody's is none."""
    script = (
        "import subprocess, sys\n"
        "other = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()', sys.argv[1]])\n"
        "one = subprocess.Popen([sys.argv[2], '-c', 'import signal; signal.pause()', sys.argv[3]])\n"
        "open(sys.argv[4], 'w').write(str(one.pid))\n"
        "one.wait()\n"
    )
    words = (str(host.root / "other"), host.java, host.words["config"], host.words["pid"])
    env = {**os.environ, "PYTHONHOME": sys.base_prefix}
    parent = subprocess.Popen([sys.executable, "-c", script, *words], env=env, start_new_session=True)
    host.around.append(parent)
    host.until(service.is_running(host.server))
    answer = host.ask(supervisor.held(host.server, LEASE).fits)
    assert answer.returncode == 1
    assert f"process {parent.pid} (" in answer.stderr
    assert "write restart: supervised, or stop it" in answer.stderr
    assert host.ask(supervisor.held(host.server, LEASE).put).returncode == 1
    assert state(parent.pid) != "T"
    parent.kill()


def test_a_shell_of_somebodys_is_no_supervisor(host: Host) -> None:
    """It has started other things as well: it is told, and left alone."""
    shell = host.begin(
        f"{sys.executable} -c 'import signal; signal.pause()' {host.root}/x & {SERVER.format(**host.words)}"
    )
    assert "nobody: process" in host.done(supervisor.held(host.server, LEASE).put)
    assert state(shell) != "T"
    host.done(service.kill(host.server))
    host.until(service.is_gone(host.server))
    assert host.done(supervisor.held(host.server, LEASE).stands) == "nobody starts it again"
    host.done(supervisor.held(host.server, LEASE).lift)
    host.done(supervisor.held(host.server, LEASE).gone)
