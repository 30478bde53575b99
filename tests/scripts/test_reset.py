"""The script that ends connections, on real ones between two networks: which it ends, and which it leaves alone."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from gate_at_work import SHELLS

from chaosk.hosts.commands import reset
from chaosk.hosts.firewall.rules import Rule
from chaosk.spec.command import Command

HERE, THERE, OTHER = "198.18.0.11", "198.18.0.12", "198.18.0.13"
SIX = "fd00::11"
TOOLS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
WITHOUT = """#!/bin/sh
for word; do [ "$word" != -K ] || exit 0; done
PATH=${PATH#*:} exec ss "$@"
"""
"""What ss does where the kernel has no CONFIG_INET_DIAG_DESTROY: it passes over whatever the kernel does not end."""


@dataclass
class Line:
    """A connection, both ends of it."""

    client: socket.socket
    server: socket.socket

    def lives(self) -> bool:
        """Whether both ends hear each other."""
        try:
            return _hears(self.client, self.server) and _hears(self.server, self.client)
        except OSError:
            return False


class Machine:
    """Two networks with a cable between them: where the script runs, and who connects to it."""

    def __init__(self, networks: tuple[Path, Path], stack: ExitStack) -> None:
        self.here, self.there = networks
        self.stack = stack
        self.path = TOOLS

    def serve(self, address: str, port: int) -> socket.socket:
        """A server here."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with within(self.here):
            server = socket.create_server((address, port), family=family, dualstack_ipv6=address == "::")
        return self.stack.enter_context(server)

    def line(self, server: socket.socket, to: str = HERE, by: str | None = None, *, own: bool = False) -> Line:
        """A connection to a server, from there or from here itself."""
        with within(self.here if own else self.there):
            client = socket.create_connection((to, server.getsockname()[1]), 5, (by or "", 0))
        self.stack.enter_context(client)
        accepted, _ = server.accept()
        accepted.settimeout(5)
        return Line(client, self.stack.enter_context(accepted))

    def run(self, command: Command, shell: list[str]) -> subprocess.CompletedProcess[str]:
        """One of chaosk's commands, reached by SSH at port 2222."""
        env = {"PATH": self.path, "SSH_CONNECTION": f"{THERE} 40000 {HERE} 2222"}
        argv = ["nsenter", f"--net={self.here}", *shell, *command.argv[1:]]
        return subprocess.run(argv, input=command.stdin or "", capture_output=True, text=True, check=False, env=env)

    def end(self, *rules: Rule, shell: list[str] | None = None) -> str:
        """End what they say; what was told."""
        done = self.run(reset.end("a", rules), shell or ["sh"])
        assert done.returncode == 0, done
        return done.stdout

    def refuse(self, *rules: Rule) -> str:
        """The same where it must fail; why."""
        done = self.run(reset.end("a", rules), ["sh"])
        assert done.returncode == 1, done
        return done.stderr


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The files of two of them. Not by `ip netns add`, which mounts /run/netns over the networks of labs."""
    here, there = (tmp_path_factory.mktemp("networks") / name for name in ("here", "there"))
    with ExitStack() as stack:
        for file in (here, there):
            file.touch()
            subprocess.run(["unshare", f"--net={file}", "ip", "link", "set", "lo", "up"], check=True)
            stack.callback(subprocess.run, ["umount", str(file)], check=True)
        with within(there):
            peer = stack.enter_context(subprocess.Popen(["sleep", "60"]))
        stack.callback(peer.kill)
        _on(here, f"ip link add eth0 type veth peer name eth0 netns {peer.pid}")
        for address in (f"{HERE}/24", f"{SIX}/64"):
            _on(here, f"ip address add {address} dev eth0 {'nodad' * (':' in address)}")
        for address in (f"{THERE}/24", f"{OTHER}/24", "fd00::12/64"):
            _on(there, f"ip address add {address} dev eth0 {'nodad' * (':' in address)}")
        for file in (here, there):
            _on(file, "ip link set eth0 up")
        yield here, there


@pytest.fixture
def machine(networks: tuple[Path, Path]) -> Iterator[Machine]:
    """It, without a connection."""
    with ExitStack() as stack:
        yield Machine(networks, stack)


@contextmanager
def within(network: Path) -> Iterator[None]:
    """This thread, and what it starts, in a network; then back."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/thread-self/ns/net").open("rb") as home, network.open("rb") as there:
        assert libc.setns(there.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
        try:
            yield
        finally:
            assert libc.setns(home.fileno(), 0) == 0


def _on(network: Path, line: str) -> None:
    with within(network):
        subprocess.run(line.split(), check=True)


def _hears(one: socket.socket, other: socket.socket) -> bool:
    one.sendall(b"x")
    return other.recv(1) == b"x"


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_what_the_rule_speaks_of_is_ended_and_nothing_else(machine: Machine, shell: list[str]) -> None:
    """Both ends know it at once, the client by a reset; other ports and other clients do not notice."""
    door, beside = machine.serve(HERE, 9092), machine.serve(HERE, 9093)
    one, two = machine.line(door, by=THERE), machine.line(door, by=THERE)
    others = [machine.line(beside, by=THERE), machine.line(door, by=OTHER)]
    told = machine.end(Rule("I", peer=THERE, port=("own", 9092)), Rule("O", port=("own", 9093)), shell=shell)
    with pytest.raises(ConnectionResetError):
        one.client.recv(1)
    with pytest.raises(ConnectionAbortedError):
        two.server.recv(1)
    assert told.splitlines()[0] == "2 ended:"
    assert f"{HERE}:9092 to {THERE}:{one.client.getsockname()[1]}" in told
    assert all(line.lives() for line in others)
    assert machine.line(door, by=THERE).lives()


def test_a_connection_that_this_host_has_opened(machine: Machine) -> None:
    """By the port at the other end, as a follower's fetches are."""
    with within(machine.there):
        door = machine.stack.enter_context(socket.create_server((THERE, 9092)))
    with within(machine.here):
        client = machine.stack.enter_context(socket.create_connection((THERE, 9092), 5))
    line = Line(client, machine.stack.enter_context(door.accept()[0]))
    assert "there is no connection between them" in machine.refuse(Rule("I", peer=THERE, port=("own", 9092)))
    assert line.lives()
    machine.end(Rule("I", peer=THERE, port=("peer", 9092)))
    assert not line.lives()


@pytest.mark.parametrize(("at", "peer"), [(HERE, THERE), (SIX, "fd00:0::12")])
def test_a_socket_of_both_families(machine: Machine, at: str, peer: str) -> None:
    """As servers in Java have them: the kernel knows an IPv4 client by an address of IPv6; addresses have spellings."""
    line = machine.line(machine.serve("::", 9092), to=at, by=None)
    machine.end(Rule("I", peer=peer, own=at, port=("own", 9092)))
    assert not line.lives()


def test_the_first_rule_that_speaks_of_a_connection_decides(machine: Machine) -> None:
    """A member of the group is let through before everybody is stopped, one who is named is stopped all the same."""
    door, second = machine.serve(HERE, 9092), machine.serve(HERE, 9093)
    named, friend = machine.line(second, by=THERE), machine.line(door, by=THERE)
    anybody, own = machine.line(door, by=OTHER), machine.line(door, own=True)
    machine.end(
        Rule("I", peer=THERE, port=("own", 9093)),
        Rule("I", loopback=True, stop=False),
        Rule("I", peer=THERE, stop=False),
        Rule("I"),
    )
    assert [line.lives() for line in (named, friend, anybody, own)] == [False, True, False, True]


def test_processes_of_one_host(machine: Machine) -> None:
    """What a broker and a ZooKeeper node beside it have, whichever of its addresses they use; nobody else's."""
    door = machine.serve("0.0.0.0", 2181)  # noqa: S104 - in a network that nothing leaves
    own = [machine.line(door, own=True), machine.line(door, to="127.0.0.1", own=True)]
    far = machine.line(door)
    machine.end(Rule("I", port=("own", 2181), loopback=True))
    assert [line.lives() for line in (*own, far)] == [False, False, True]


def test_ssh_is_never_ended(machine: Machine) -> None:
    """By the port that this session has come to, nor by its usual one, whatever the rules say."""
    ssh = [machine.line(machine.serve(HERE, port)) for port in (22, 2222)]
    other = machine.line(machine.serve(HERE, 9092))
    machine.end(Rule("I"))
    assert [line.lives() for line in (*ssh, other)] == [True, True, False]
    for rule in (Rule("I"), Rule("I", peer=THERE), Rule("I", port=("own", 22)), Rule("I", port=("own", 2222))):
        assert "there is no connection between them" in machine.refuse(rule)
    assert all(line.lives() for line in ssh)


def test_a_kernel_that_ends_nothing_is_told(machine: Machine, tmp_path: Path) -> None:
    """By the connection, before on a trial and then on the real one all the same: ss says nothing of that."""
    (tmp_path / "ss").write_text(WITHOUT)
    (tmp_path / "ss").chmod(0o755)
    able = machine.run(reset.fits("a"), ["sh"])
    assert (able.returncode, able.stdout) == (0, "this kernel ends connections\n")
    machine.path = f"{tmp_path}{os.pathsep}{TOOLS}"
    unable = machine.run(reset.fits("a"), ["sh"])
    assert unable.returncode == 1
    assert "without CONFIG_INET_DIAG_DESTROY" in unable.stderr
    line = machine.line(machine.serve(HERE, 9092))
    assert f"not ended: {HERE}:9092 to {THERE}" in machine.refuse(Rule("I"))
    assert line.lives()


def test_where_nothing_can_be_tried_nothing_is_done(machine: Machine, tmp_path: Path) -> None:
    """A host that gives nobody a network of its own: the reason is told."""
    (tmp_path / "unshare").write_text("#!/bin/sh\necho unshare: Operation not permitted >&2\nexit 3\n")
    (tmp_path / "unshare").chmod(0o755)
    machine.path = f"{tmp_path}{os.pathsep}{TOOLS}"
    refused = machine.run(reset.fits("a"), ["sh"])
    assert refused.returncode == 1
    assert "cannot be tried here: unshare: Operation not permitted" in refused.stderr
