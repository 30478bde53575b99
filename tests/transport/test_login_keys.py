"""Keys for a login: passphrases, agents, and what is said where none opens."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaosk.core.errors import HostError
from chaosk.hosts.transport.ssh import Ssh
from chaosk.spec.command import Command
from chaosk.spec.inventory import Host

from .conftest import Sshd, make_key, serving

pytestmark = pytest.mark.lab

PASSPHRASE = "correct horse"  # noqa: S105 - the point of it


@pytest.fixture
def locked(sshd: Sshd, tmp_path: Path) -> Iterator[Path]:
    """A key with a passphrase that the server accepts."""
    key = tmp_path / "locked"
    public = make_key(key, passphrase=PASSPHRASE)
    accepted = sshd.folder / "authorized_keys"
    before = accepted.read_text()
    accepted.write_text(f"{before}{public}\n")
    yield key
    accepted.write_text(before)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An agent without keys, which SSH_AUTH_SOCK names."""
    path = tmp_path / "agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL) as process:
        while not path.exists():
            time.sleep(0.02)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
        yield path
        process.terminate()


def opens(host: Host) -> bool:
    """Whether a command can be run there."""
    transport = Ssh({"node1": host})
    try:
        return transport.run(Command(host="node1", argv=("true",))).ok
    finally:
        transport.close()


def refused(host: Host) -> str:
    """Why not."""
    with pytest.raises(HostError) as caught:
        opens(host)
    return str(caught.value)


def test_a_passphrase_by_reference(sshd: Sshd, locked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a command, a file or the environment; a wrong one is told, without being repeated."""
    monkeypatch.setenv("KEY_PASSPHRASE", "my wrong secret")
    wrong = refused(sshd.host(key_file=str(locked), ssh={"key_passphrase": {"env": "KEY_PASSPHRASE"}}))
    assert "it needs a passphrase, and the one that was given does not open it" in wrong
    assert "my wrong secret" not in wrong
    for number, reference in enumerate(({"command": ["printf", f"{PASSPHRASE}\\n"]}, {"env": "KEY_PASSPHRASE"})):
        monkeypatch.setenv("KEY_PASSPHRASE", PASSPHRASE)
        key = tmp_path / f"copy{number}"  # a passphrase is kept by the path of its key
        key.write_bytes(locked.read_bytes())
        key.chmod(0o600)
        assert opens(sshd.host(key_file=str(key), ssh={"key_passphrase": reference}))


def test_a_command_for_a_passphrase_that_fails(sshd: Sshd, locked: Path) -> None:
    """The command and its status."""
    said = refused(sshd.host(key_file=str(locked), ssh={"key_passphrase": {"command": ["false"]}}))
    assert "the command false, which should print a secret, failed with status 1" in said


def test_a_passphrase_is_asked_for_once(sshd: Sshd, locked: Path) -> None:
    """At the terminal, without an echo; a second connection of the process does not ask again."""
    host = sshd.host(key_file=str(locked)).model_dump_json()
    script = (
        "import sys; from chaosk.hosts.transport.ssh import Ssh; from chaosk.spec.command import Command\n"
        "from chaosk.spec.inventory import Host\n"
        "for _ in range(2):\n"
        "    ssh = Ssh({'n': Host.model_validate_json(sys.argv[1])})\n"
        "    print(ssh.run(Command(host='n', argv=('echo', 'in'))).stdout); ssh.close()\n"
    )
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", script, host])  # noqa: S606
    said = b""
    while b"passphrase of" not in said:
        said += os.read(terminal, 1024)
    os.write(terminal, f"{PASSPHRASE}\n".encode())
    try:
        while more := os.read(terminal, 1024):
            said += more
    except OSError:
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, said
    text = said.decode()
    assert (text.count("passphrase of"), text.count("in\r\n"), text.count(PASSPHRASE)) == (1, 2, 0)


def test_a_key_of_the_agent(sshd: Sshd, agent: Path) -> None:
    """Found by SSH_AUTH_SOCK where the inventory names no key."""
    subprocess.run(["ssh-add", "-q", sshd.folder / "client_key"], check=True)
    assert opens(sshd.host(key_file=None))


def test_an_agent_without_a_key(sshd: Sshd, agent: Path) -> None:
    """The server was reached; nothing was offered."""
    said = refused(sshd.host(key_file=None))
    assert f"reached, but there is no key to log in with as root: the SSH agent at {agent} holds no key" in said


def test_no_agent_and_no_key(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing, and both ways to have it."""
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    said = refused(sshd.host(key_file=None))
    assert "reached, but there is no key to log in with as root: no SSH agent is running" in said
    assert "hosts.*.key_file" in said


def test_keys_of_an_agent_that_are_refused(sshd: Sshd, agent: Path, tmp_path: Path) -> None:
    """Each with its fingerprint: it is told apart from a host that is not reached."""
    make_key(tmp_path / "stranger")
    subprocess.run(["ssh-add", "-q", tmp_path / "stranger"], check=True)
    said = refused(sshd.host(key_file=None))
    assert "reached, but login as root with the key " in said
    assert "of the SSH agent (ssh-ed25519 SHA256:" in said


def test_an_account_that_needs_more_than_a_key(tmp_path: Path) -> None:
    """The second factor that chaosk does not answer is named; the key was right."""
    more = "AuthenticationMethods publickey,keyboard-interactive\nKbdInteractiveAuthentication yes\nUsePAM yes"
    with serving(tmp_path, more) as server:
        assert "was accepted, and root needs keyboard-interactive as well" in refused(server.host())


def test_a_server_that_takes_no_keys(tmp_path: Path) -> None:
    """By what it lets the account log in."""
    with serving(tmp_path, "PubkeyAuthentication no") as server:
        assert "lets root log in by" in refused(server.host())
