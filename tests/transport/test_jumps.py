"""Hosts behind jump hosts, by configurations of ssh(1) and real servers: the way, its guards, and its messages."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from chaosk.core.errors import ConnectionLost, HostError
from chaosk.hosts.transport.ssh import Ssh
from chaosk.spec.command import Command
from chaosk.spec.inventory import Host

from .conftest import Sshd, make_key, serving

pytestmark = pytest.mark.lab


@dataclass(frozen=True)
class Servers:
    """Three servers, each with keys of its own."""

    outer: Sshd
    inner: Sshd
    target: Sshd

    def config(self, folder: Path, more: str = "", *, jumps: str = "ProxyJump outer,inner") -> Path:
        """A configuration that names all three."""
        file = folder / "ssh_config"
        blocks = [
            f"Host {name}\n  HostName 127.0.0.1\n  Port {server.port}\n  User root\n"
            f"  IdentityFile {server.folder}/client_key\n  UserKnownHostsFile {server.folder}/known_hosts\n"
            for name, server in (("outer", self.outer), ("inner", self.inner), ("target", self.target))
        ]
        file.write_text(f"{more}\nMatch originalhost target\n  {jumps}\n{''.join(blocks)}")
        return file


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Two jump hosts and a target."""
    with ExitStack() as stack:
        yield Servers(*(stack.enter_context(serving(tmp_path_factory.mktemp(name))) for name in "oit"))


def behind(servers: Servers, config: Path, **changes: object) -> Host:
    """The target, as an inventory has it once it is loaded."""
    fields = {"address": "127.0.0.1", "port": servers.target.port, "user": "root", "sudo": False}
    return Host.model_validate({**fields, "ssh": {"config": str(config), "name": "target"}, **changes})


def command(*argv: str, host: str = "node1", **more: object) -> Command:
    """A command for one host."""
    return Command(host=host, argv=argv, **more)  # type: ignore[arg-type]


def relay(folder: Path) -> str:
    """A command that connects its streams to the target, and leaves its process id in a file."""
    script = f"echo $$ >{folder}/pid; exec 3<>/dev/tcp/%h/%p; cat <&3 & exec cat >&3"
    return f"ProxyCommand {shutil.which('bash')} -c '{script}'"


def refusal(host: Host) -> str:
    """Why a host is refused."""
    transport = Ssh({"node1": host})
    with pytest.raises(HostError) as caught:
        transport.run(command("true"))
    transport.close()
    assert str(caught.value).startswith("node1: ")
    return str(caught.value)


def test_a_host_behind_two_jump_hosts(servers: Servers, tmp_path: Path) -> None:
    """Commands arrive at the target, each hop verified and logged in to; Nagle's delay is off on the jump."""
    transport = Ssh({"node1": behind(servers, servers.config(tmp_path))})
    before = [server.logins() for server in (servers.outer, servers.inner, servers.target)]
    assert transport.run(command("sh", "-c", "echo $SSH_CONNECTION")).stdout.split()[3] == str(servers.target.port)
    assert [server.logins() for server in (servers.outer, servers.inner, servers.target)] == [n + 1 for n in before]
    first = min(transport._gateways._gateways.items(), key=lambda item: len(item[0]))[1].client
    outer = first.get_transport() if first is not None else None
    assert outer is not None
    assert isinstance(outer.sock, socket.socket)
    assert outer.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    transport.close()


@contextmanager
def delayed(port: int, seconds: float) -> Iterator[int]:
    """A port that leads to another one, with a delay each way."""
    ends: list[socket.socket] = []

    def pump(source: socket.socket, sink: socket.socket) -> None:
        waiting: queue.Queue[tuple[float, bytes]] = queue.Queue()

        def deliver() -> None:
            with contextlib.suppress(OSError):
                while data := (item := waiting.get())[1]:
                    time.sleep(max(0.0, item[0] - time.monotonic()))
                    sink.sendall(data)

        threading.Thread(target=deliver, daemon=True).start()
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                waiting.put((time.monotonic() + seconds, data))
        waiting.put((0.0, b""))

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            near, far = listener.accept()[0], socket.create_connection(("127.0.0.1", port))
            ends.extend((near, far))
            for end in ends:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for pair in ((near, far), (far, near)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
    for end in ends:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


def test_a_jump_costs_one_round_trip_a_command(servers: Servers, tmp_path: Path) -> None:
    """A jump host 50 ms away and back: a command in the kept shell takes that once, not twice."""
    with delayed(servers.outer.port, 0.025) as port:
        config = servers.config(tmp_path, jumps="ProxyJump outer")
        known = tmp_path / "known_hosts"
        known.write_text((servers.outer.folder / "known_hosts").read_text().replace(str(servers.outer.port), str(port)))
        text = config.read_text().replace(f"Port {servers.outer.port}", f"Port {port}")
        config.write_text(text.replace(f"{servers.outer.folder}/known_hosts", str(known)))
        transport = Ssh({"node1": behind(servers, config)})
        times = []
        for _ in range(9):
            began = time.monotonic()
            transport.run(Command(host="node1", argv=("true",), repeatable=True))
            times.append(time.monotonic() - began)
        transport.close()
    assert 0.05 < median(times) < 0.095


def test_an_answer_in_parts_is_acknowledged_at_once(servers: Servers, tmp_path: Path) -> None:
    """Else the sshd of the jump host, which has Nagle's algorithm on, holds back stderr for 40 ms a command."""
    transport = Ssh({"node1": behind(servers, servers.config(tmp_path, jumps="ProxyJump outer"))})
    times = []
    for _ in range(25):
        began = time.monotonic()
        transport.run(Command(host="node1", argv=("true",), repeatable=True))
        times.append(time.monotonic() - began)
    transport.close()
    assert median(times) < 0.038


def test_hosts_share_the_connection_to_their_jump_host(servers: Servers, tmp_path: Path) -> None:
    """Eight at the same time log in to the jump host once: sshd drops logins beyond MaxStartups."""
    config = servers.config(tmp_path, jumps="ProxyJump outer")
    transport = Ssh({f"node{n}": behind(servers, config) for n in range(8)})
    before = servers.outer.logins()
    threads = [threading.Thread(target=transport.run, args=(command("true", host=f"node{n}"),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert servers.outer.logins() == before + 1
    transport.close()


def test_a_jump_host_that_goes_away_is_reached_anew(servers: Servers, tmp_path: Path) -> None:
    """As with a direct connection: the command under way is lost, the next one gets a new way."""
    with serving_at(tmp_path / "jump") as jump:
        config = Servers(jump, servers.inner, servers.target).config(tmp_path, jumps="ProxyJump outer")
        transport = Ssh({"node1": behind(servers, config)})
        transport.run(command("true"))
        restart = threading.Timer(0.5, lambda: (jump.stop(), jump.start()))
        restart.start()
        with pytest.raises(ConnectionLost, match="outcome unknown"):
            transport.run(command("sleep", "5", timeout=8))
        restart.join()
        assert transport.run(command("echo", "again")).stdout == "again\n"
        transport.close()


@pytest.fixture(autouse=True)
def _no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)


def serving_at(folder: Path, more: str = ""):  # type: ignore[no-untyped-def] # noqa: ANN201
    """A server in a new folder."""
    folder.mkdir()
    return serving(folder, more)


def test_an_unknown_key_on_a_jump_host(servers: Servers, tmp_path: Path) -> None:
    """Strict on every hop, whatever the configuration says; the message names the hop and its line."""
    (tmp_path / "empty").touch()
    more = f"StrictHostKeyChecking no\nHost inner\n  UserKnownHostsFile {tmp_path}/empty\nHost *"
    said = refusal(behind(servers, servers.config(tmp_path, more)))
    assert f"jump host inner ({tmp_path}/ssh_config:6): its host key ssh-ed25519 SHA256:" in said
    assert f"ssh-keyscan -p {servers.inner.port} 127.0.0.1 >> {tmp_path}/empty" in said


def test_a_jump_host_that_refuses_the_key(servers: Servers, tmp_path: Path) -> None:
    """Which hop, as whom, with which key."""
    make_key(tmp_path / "stranger")
    more = (
        f"Host inner\n  IdentitiesOnly yes\n  IdentityFile {tmp_path}/stranger\n"
        f"  UserKnownHostsFile {servers.inner.folder}/known_hosts\nHost *"
    )
    config = servers.config(tmp_path, more)
    text = config.read_text().replace(f"  IdentityFile {servers.inner.folder}/client_key\n", "")
    config.write_text(text)
    said = refusal(behind(servers, config))
    assert "jump host inner (" in said
    assert f"reached, but login as root with the key {tmp_path}/stranger (ssh-ed25519 SHA256:" in said


def test_a_target_that_the_jump_host_cannot_reach(servers: Servers, tmp_path: Path) -> None:
    """The message says from where it was tried."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    said = refusal(behind(servers, servers.config(tmp_path), port=port))
    assert f"cannot be reached at 127.0.0.1 port {port} from the jump host inner (" in said


def test_a_jump_host_that_does_not_forward(servers: Servers, tmp_path: Path) -> None:
    """The setting of its sshd is named."""
    with serving_at(tmp_path / "closed", "AllowTcpForwarding no") as closed:
        config = Servers(closed, servers.inner, servers.target).config(tmp_path, jumps="ProxyJump outer")
        assert "its sshd needs AllowTcpForwarding" in refusal(behind(servers, config))


def test_a_jump_host_through_itself(servers: Servers, tmp_path: Path) -> None:
    """A pattern for all hosts that names a jump host holds for that, too: ssh would go round for ever."""
    config = servers.config(tmp_path, "ProxyJump outer", jumps="Port 22")
    assert "give it `ProxyJump none`" in refusal(behind(servers, config))


def test_a_proxy_command(servers: Servers, tmp_path: Path) -> None:
    """Its streams are the connection; with the connection it ends."""
    config = servers.config(tmp_path, jumps=relay(tmp_path))
    transport = Ssh({"node1": behind(servers, config)})
    assert transport.run(command("echo", "there")).stdout == "there\n"
    pid = int((tmp_path / "pid").read_text())
    os.kill(pid, 0)
    transport.close()
    for _ in range(50):
        if not Path(f"/proc/{pid}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{pid}").exists()


def test_a_proxy_command_that_fails(servers: Servers, tmp_path: Path) -> None:
    """Its own last line, its status and the line of the configuration, within seconds."""
    config = servers.config(tmp_path, jumps="ProxyCommand sh -c 'echo no such bastion >&2; exit 3'")
    began = time.monotonic()
    said = refusal(behind(servers, config))
    assert "its ProxyCommand leads to no SSH server; it ended with status 3: no such bastion" in said
    assert f"{tmp_path}/ssh_config:3" in said
    assert time.monotonic() - began < 8


def test_a_killed_proxy_command_is_noticed(servers: Servers, tmp_path: Path) -> None:
    """A command under way is lost at once, not after its time-out, and the next one starts another."""
    config = servers.config(tmp_path, jumps=relay(tmp_path))
    transport = Ssh({"node1": behind(servers, config)})
    transport.run(command("true"))
    pid = int((tmp_path / "pid").read_text())
    threading.Timer(0.3, lambda: os.killpg(pid, signal.SIGKILL)).start()
    began = time.monotonic()
    with pytest.raises(ConnectionLost):
        transport.run(command("sleep", "20", timeout=25))
    assert time.monotonic() - began < 10
    assert transport.run(command("true")).ok
    transport.close()


def test_a_certificate_beside_the_key(servers: Servers, tmp_path: Path) -> None:
    """FILE-cert.pub opens an account that trusts the authority only; without it the key is refused."""
    make_key(tmp_path / "ca")
    make_key(tmp_path / "mine")
    with serving_at(tmp_path / "server", f"TrustedUserCAKeys {tmp_path}/ca.pub") as server:
        host = server.host(key_file=str(tmp_path / "mine"))
        assert f"with the key {tmp_path}/mine" in refusal(host)
        sign: list[str | Path] = [
            "ssh-keygen",
            "-q",
            "-s",
            tmp_path / "ca",
            "-I",
            "nina",
            "-n",
            "root",
            tmp_path / "mine.pub",
        ]
        subprocess.run(sign, check=True)
        transport = Ssh({"node1": host})
        assert transport.run(command("true")).ok
        transport.close()
