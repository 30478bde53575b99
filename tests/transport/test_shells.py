"""Kept shells over a real SSH server: used again, replaced when they die, and never in the way of anything."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chaosk.core.errors import StepError
from chaosk.hosts.transport.ssh import Ssh
from chaosk.hosts.transport.wrap import PATH
from chaosk.spec.command import Command

from .conftest import Sshd, serving
from .test_ssh import KILL_OWN_SSHD

pytestmark = pytest.mark.lab
FREEZE_OWN_SSHD_SOON = KILL_OWN_SSHD.replace(
    "kill -9 $pid", "(sleep 0.3; kill -STOP $pid; sleep 15; kill -CONT $pid) </dev/null >/dev/null 2>&1 &"
)
PARENT = ("sh", "-c", "sed -n 's/^PPid:[[:space:]]*//p' /proc/$PPID/status")
"""Says the process id of whoever started `timeout`: of the kept shell."""


def kept(*argv: str, **more: Any) -> Command:
    """A command that may be repeated, and is given to a kept shell."""
    return Command(host="node1", argv=argv, repeatable=True, **more)


@pytest.fixture
def ssh(sshd: Sshd) -> Iterator[Ssh]:
    """A transport to the server."""
    transport = Ssh({"node1": sshd.host()})
    yield transport
    transport.close()


def test_commands_share_a_shell(ssh: Ssh) -> None:
    """One after the other they have the same parent; what may not be repeated, reads or leaves something has not."""
    first = ssh.run(kept(*PARENT)).stdout
    assert ssh.run(kept(*PARENT)).stdout == first
    others: list[dict[str, Any]] = [{"repeatable": False}, {"stdin": ""}, {"alone": True}]
    assert first not in {ssh.run(kept(*PARENT).model_copy(update=other)).stdout for other in others}
    assert ssh.run(kept(*PARENT)).stdout == first


def test_a_command_that_leaves_something_does_not_talk_into_another(ssh: Ssh) -> None:
    """What a service writes after its command is over is in nobody else's answer."""
    ssh.run(kept("true"))
    ssh.run(kept("sh", "-c", "(sleep 0.3; echo noise; echo noise >&2) & echo started", alone=True))
    after = ssh.run(kept("sleep", "0.6"))
    assert (after.stdout, after.stderr) == ("", "")


def test_a_shell_that_died_is_replaced(ssh: Ssh) -> None:
    """Between two commands somebody kills it; the next one has another, over the same connection."""
    first = ssh.run(kept(*PARENT)).stdout
    ssh.run(Command(host="node1", argv=("kill", "-9", first.strip())))
    time.sleep(0.2)
    assert ssh.run(kept(*PARENT)).stdout not in {first, ""}


def test_a_shell_that_dies_under_a_command(ssh: Ssh, tmp_path: Path) -> None:
    """The outcome is unknown, and because it may be repeated it is."""
    script = f'echo x >>"{tmp_path}/runs"; [ "$(wc -l <"{tmp_path}/runs")" = 2 ] && exit 0; kill -9 $({PARENT[2]})'
    assert ssh.run(kept("sh", "-c", script)).ok
    assert (tmp_path / "runs").read_text() == "x\nx\n"


def test_a_connection_that_dies_under_a_command(sshd: Sshd, ssh: Ssh, tmp_path: Path) -> None:
    """The same, and the next one is over the new connection."""
    before = sshd.logins()
    script = f'echo x >>"{tmp_path}/runs"; [ "$(wc -l <"{tmp_path}/runs")" = 2 ] && exit 0; {KILL_OWN_SSHD}'
    assert ssh.run(kept("sh", "-c", script)).ok
    assert ssh.run(kept("true")).ok
    assert sshd.logins() == before + 2


def test_a_dead_connection_does_not_cost_the_commands_whole_time(sshd: Sshd, ssh: Ssh) -> None:
    """A command that has not begun after three seconds asks whether the connection is alive, and gets another."""
    before = sshd.logins()
    ssh.run(kept("true"))
    ssh.run(Command(host="node1", argv=("sh", "-c", FREEZE_OWN_SSHD_SOON)))
    time.sleep(0.8)
    began = time.monotonic()
    assert ssh.run(kept("true", timeout=60)).ok
    assert time.monotonic() - began < 10
    assert sshd.logins() == before + 2


def test_many_threads(sshd: Sshd, ssh: Ssh) -> None:
    """Thirty commands at once get their own answers over one login, and one shell is kept."""
    before = sshd.logins()
    with ThreadPoolExecutor(30) as pool:
        said = list(pool.map(lambda n: ssh.run(kept("echo", str(n))).stdout, range(30)))
    assert said == [f"{n}\n" for n in range(30)]
    assert sshd.logins() == before + 1
    assert len({ssh.run(kept(*PARENT)).stdout for _ in range(3)}) == 1


def test_too_much_output_costs_the_shell_only(ssh: Ssh) -> None:
    """A command that never stops talking ends in a clear error, and the next one is not troubled by its rest."""
    with pytest.raises(StepError, match=r"wrote more than 16 MiB"):
        ssh.run(kept("cat", "/dev/zero"))
    assert ssh.run(kept("echo", "next")).stdout == "next\n"


def test_a_server_that_allows_one_session(tmp_path: Path) -> None:
    """A kept shell makes room for a command that needs a session of its own."""
    with serving(tmp_path, "MaxSessions 1") as narrow:
        transport = Ssh({"node1": narrow.host()})
        assert transport.run(kept("true")).ok
        assert transport.run(Command(host="node1", argv=("cat",), stdin="x")).stdout == "x"
        assert transport.run(kept("true")).ok
        transport.close()
        assert narrow.logins() == 1


def test_sessions_that_are_refused_cost_no_other_command(tmp_path: Path) -> None:
    """Of many that are refused at once, paramiko tells one why; none of them closes the connection of all."""
    with serving(tmp_path, "MaxSessions 1") as narrow:
        transport = Ssh({"node1": narrow.host()})
        with ThreadPoolExecutor(8) as pool:
            under_way = pool.submit(transport.run, Command(host="node1", argv=("sleep", "3")))
            time.sleep(1)
            others = [pool.submit(transport.run, Command(host="node1", argv=("true",))) for _ in range(7)]
            assert all("breaks again and again" in str(other.exception()) for other in others)
            assert under_way.result().ok
        transport.close()
        assert narrow.logins() == 1


def test_where_sudo_allows_no_shell(tmp_path: Path) -> None:
    """Commands run in sessions of their own, as often as they were asked for: here sudo refuses a bare `sh`."""
    programs = tmp_path / "bin"
    programs.mkdir()
    sudo = programs / "sudo"
    sudo.write_text('#!/bin/sh\nshift 2\nfor last; do :; done\n[ "$last" = sh ] && exit 1\nexec "$@"\n')
    sudo.chmod(0o755)
    with serving(tmp_path, f"SetEnv SHLVL=2 PATH={programs}:{PATH}") as strict:
        transport = Ssh({"node1": strict.host(sudo=True)})
        script = f'echo x >>"{tmp_path}/runs"'
        assert all(transport.run(kept("sh", "-c", script, sudo=True)).ok for _ in range(2))
        transport.close()
    assert (tmp_path / "runs").read_text() == "x\nx\n"
