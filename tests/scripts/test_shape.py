"""The script on queues, on a machine with two interfaces: what it makes, what it leaves alone, what is felt of it."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from chaosk.hosts.commands import shape
from chaosk.hosts.firewall.rules import Rule
from chaosk.run.lasting import FactCheck, lasted
from chaosk.spec.command import Command

HOW = shape.rate(1_000_000)
PEER, ANYBODY = Rule("O", peer="198.18.0.12"), Rule("O")
ID, OTHER = "0123456789", "abcdef0123"
SERVER = """
import socket, sys
with socket.create_server((sys.argv[1], int(sys.argv[2]))) as door:
    print("ready", flush=True)
    while True:
        line, _ = door.accept()
        with line:
            while line.recv(65536):
                pass
            line.sendall(b"all")
"""
CLIENT = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), source_address=("", int(sys.argv[3]))) as line:
    line.sendall(b"x" * 250_000)
    line.shutdown(socket.SHUT_WR)
    assert line.recv(3) == b"all"
"""


class Machine:
    """A network namespace, reached by SSH at port 2222, with out0 to a peer and side0 to nobody."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "kept"
        self.here, self.there = (["nsenter", f"--net={folder / name}"] for name in ("here", "there"))
        self.mounts = [folder / "here", folder / "there"]

    def sh(self, script: str, *, there: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a line on the machine, or on its peer."""
        return self._run([*(self.there if there else self.here), "sh", "-c", script])

    def _run(self, argv: list[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SSH_CONNECTION": "198.18.0.12 40000 198.18.0.11 2222"}
        return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False, env=env)

    def ask(self, command: Command) -> subprocess.CompletedProcess[str]:
        """Run one of chaosk's commands, which keeps its notes in a folder of the test's."""
        text = command.argv[2].replace("/var/lib/chaosk", str(self.home))
        return self._run([*self.here, "sh", "-c", text, *command.argv[3:]], command.stdin or "")

    def do(self, command: Command) -> str:
        """A command that must succeed; what it said."""
        done = self.ask(command)
        assert done.returncode == 0, done
        return done.stdout

    def refuse(self, command: Command) -> str:
        """A command that must fail; why."""
        done = self.ask(command)
        assert done.returncode == 1, done
        return done.stderr

    def queues(self) -> str:
        """All there is of tc's on the machine, without counters."""
        said = self.sh("tc qdisc show; for at in lo out0 side0; do tc class show dev $at; tc filter show dev $at; done")
        assert said.returncode == 0
        return re.sub(r"direct_packets_stat \d+", "", said.stdout)

    def takes(self, own_port: int) -> float:
        """Seconds to send a quarter of a megabyte to the peer from that port, until it has all of it."""
        port = "9092"
        words = [*self.there, sys.executable, "-c", SERVER, "198.18.0.12", port]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as server:
            try:
                assert server.stdout is not None
                server.stdout.readline()
                began = time.monotonic()
                argv = [*self.here, sys.executable, "-c", CLIENT, "198.18.0.12", port, str(own_port)]
                subprocess.run(argv, check=True, timeout=60)
                return time.monotonic() - began
            finally:
                server.kill()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """It, up, with the kernel's own queues."""
    here = Machine(tmp_path)
    with ExitStack() as stack:
        for mount in here.mounts:
            mount.touch()
            subprocess.run(["unshare", f"--net={mount}", "ip", "link", "set", "lo", "up"], check=True)
            stack.callback(subprocess.run, ["umount", str(mount)], check=True)
        _plug(here)
        yield here


def _plug(here: Machine) -> None:
    """Two cables to a peer in a namespace of its own."""
    peer = subprocess.Popen([*here.there, "sleep", "60"])
    try:
        while Path(f"/proc/{peer.pid}/comm").read_text("ascii") != "sleep\n":  # until then it is not there yet
            time.sleep(0.01)
        made = here.sh(
            f"for at in out0 side0; do ip link add $at type veth peer name $at netns {peer.pid}; done &&"
            "ip address add 198.18.0.11/24 dev out0 && ip address add 198.18.1.11/24 dev side0 &&"
            "ip -6 address add fd00::11/64 dev out0 nodad && for at in out0 side0; do ip link set $at up; done"
        )
        assert made.returncode == 0, made
        lines = "ip address add 198.18.0.12/24 dev out0 && ip link set out0 up && ip link set side0 up"
        assert here.sh(lines, there=True).returncode == 0
    finally:
        peer.kill()
        peer.wait()


def put(*rules: Rule, which: str = ID, how: str = HOW) -> Command:
    """Place it."""
    return shape.shaped("a", which, how, rules or (PEER,)).put


def stands(*rules: Rule, how: str = HOW) -> Command:
    """Whether it is there."""
    return shape.shaped("a", ID, how, rules or (PEER,)).stands


FITS, _, _, LIFT, GONE = shape.shaped("a", ID, HOW, (PEER,))


def test_its_life(machine: Machine) -> None:
    """On the interface that leads to the peer only; twice is as once, and afterwards all is as it was to the letter."""
    was = machine.queues()
    assert machine.do(FITS).startswith("out0: qdisc noqueue")
    assert machine.do(GONE)
    assert "are not as they were made" in machine.refuse(stands())
    for _ in range(2):
        machine.do(put())
        assert machine.do(stands()).startswith("out0: 1 filters; sent through it: 0 bytes")
        assert "out0" in machine.refuse(GONE)
    assert "htb" not in machine.sh("tc qdisc show dev side0").stdout
    for _ in range(2):
        machine.do(LIFT)
        machine.do(GONE)
        assert machine.queues() == was
    assert list(machine.home.glob("queues/*")) == []


def test_what_was_asked_is_what_must_stand(machine: Machine) -> None:
    """Another rate, another packet, a filter more or less: it does not stand."""
    machine.do(put())
    for asked in (stands(how=shape.rate(2_000_000)), stands(ANYBODY), stands(PEER, Rule("O", own="198.18.0.11"))):
        machine.refuse(asked)
    machine.do(stands())
    handle = f"c4{ID[:2]}"
    assert machine.sh(f"tc filter del dev out0 parent {handle}: prio 7").returncode == 0
    machine.refuse(stands())
    machine.do(LIFT)


def test_everybody_is_on_every_interface(machine: Machine) -> None:
    """Both lead somewhere; the loopback does not."""
    machine.do(put(ANYBODY))
    assert machine.do(stands(ANYBODY)).count("filters") == 2
    assert machine.sh("tc qdisc show dev lo").stdout.startswith("qdisc noqueue")
    machine.do(LIFT)
    machine.do(GONE)


def test_every_condition_that_rules_have(machine: Machine) -> None:
    """Ports at either end, own addresses, both families, chaosk's machine, names, and those who are let past."""
    rules = (
        Rule("O", peer="198.18.0.12", port=("peer", 2181)), Rule("O", peer="@_self", port=("own", 9092)),
        Rule("O", peer="fd00::12"), Rule("O", peer="198.18.1.12", stop=False), Rule("O", own="198.18.0.11"), ANYBODY,
    )  # fmt: skip
    machine.do(shape.shaped("a", ID, HOW, rules).fits)
    machine.do(put(*rules))
    machine.do(stands(*rules))
    filters = machine.sh("tc filter show dev out0").stdout
    assert "c612000c/ffffffff at 16" in filters
    assert "00000885/0000ffff at 20" in filters
    assert "23840000/ffff0000 at 20" in filters
    assert "c612010c" not in filters
    assert "c612010c/ffffffff at 16" in machine.sh("tc filter show dev side0").stdout
    machine.do(LIFT)


def test_only_what_leaves(machine: Machine) -> None:
    """A rule on what arrives is refused, and nothing is placed."""
    was = machine.queues()
    assert "only what leaves" in machine.refuse(put(Rule("I", peer="198.18.0.12")))
    assert machine.queues() == was
    machine.do(GONE)


@pytest.mark.parametrize("foreign", ["tbf rate 1gbit burst 100kb latency 50ms", "handle 1: htb default 0"])
def test_queues_of_somebody_else_are_never_replaced(machine: Machine, foreign: str) -> None:
    """Refused when it is asked for and when it would be placed, on every interface in question."""
    assert machine.sh(f"tc qdisc add dev side0 root {foreign}").returncode == 0
    was = machine.queues()
    assert "side0 are arranged by somebody else" in machine.refuse(shape.shaped("a", ID, HOW, (ANYBODY,)).fits)
    machine.refuse(put(ANYBODY))
    machine.do(LIFT)
    assert machine.queues() == was
    machine.do(GONE)


def test_two_at_a_time_are_one_too_many(machine: Machine) -> None:
    """The first one stays as it is, whoever asks for a second."""
    machine.do(put())
    assert "somebody else" in machine.refuse(put(which=OTHER))
    machine.do(shape.shaped("a", OTHER, HOW, (PEER,)).lift)
    machine.do(stands())
    machine.do(LIFT)


def test_half_placed_is_taken_away(machine: Machine) -> None:
    """Without its class, or only its note: the undo leaves nothing, and it does not count as placed."""
    was = machine.queues()
    machine.do(put())
    handle = f"c4{ID[:2]}"
    assert machine.sh(f"tc qdisc del dev out0 root && tc qdisc add dev out0 root handle {handle}: htb").returncode == 0
    machine.refuse(stands())
    machine.do(LIFT)
    machine.do(GONE)
    machine.do(put())
    assert machine.sh("tc qdisc del dev out0 root").returncode == 0
    assert "is not undone" in machine.refuse(GONE)
    machine.do(LIFT)
    machine.do(GONE)
    assert machine.queues() == was


def test_what_came_meanwhile_stays(machine: Machine) -> None:
    """Somebody has put queues of their own in place of ours: they stay, and it did not last."""
    machine.do(put())
    assert machine.sh("tc qdisc replace dev out0 root handle 1: htb default 0").returncode == 0
    machine.refuse(stands())
    machine.do(LIFT)
    machine.do(GONE)
    assert "qdisc htb 1: root" in machine.sh("tc qdisc show dev out0").stdout


def test_a_peer_without_a_way(machine: Machine) -> None:
    """Named before anything is placed."""
    assert "no way to 203.0.113.1" in machine.refuse(put(Rule("O", peer="203.0.113.1")))
    assert "is an address of this host itself" in machine.refuse(put(Rule("O", peer="198.18.0.11")))
    machine.do(GONE)


def test_what_the_kernel_cannot_is_refused(machine: Machine) -> None:
    """Tried in a network of its own; nothing is on the machine then."""
    was = machine.queues()
    assert "the kernel or tc cannot do it here" in machine.refuse(
        shape.shaped("a", ID, "netem delay nonsense", (PEER,)).fits
    )
    assert machine.queues() == was


def test_a_rate_is_felt_and_ssh_does_not_feel_it(machine: Machine) -> None:
    """2 Mbit take two seconds at 1 Mbit/s, less what goes through at once; from the port of SSH none."""
    assert machine.takes(40_001) < 1.0
    machine.do(put(ANYBODY))
    assert 1.5 < machine.takes(40_002) < 6.0
    assert machine.takes(2222) < 1.0
    machine.do(stands(ANYBODY))
    machine.do(LIFT)
    assert machine.takes(40_003) < 1.0


def test_as_long_as_it_lasts_its_bytes_only_grow(machine: Machine) -> None:
    """Asked in short it says the same as in full; put back anew it has counted less, taken away it lasts no longer."""
    look = shape.lasts("a", ID)
    machine.do(put(ANYBODY))
    first = FactCheck("it stands", 0, 0, holds=True, seen=machine.do(stands(ANYBODY)))
    machine.takes(40_001)
    later = FactCheck("it stands", 1, 1, holds=True, seen=machine.do(look))
    assert first.marks()
    assert first.marks() == later.marks()
    assert lasted([first, later], 0, 1) == ((), ())
    machine.do(put(ANYBODY))
    again = FactCheck("it stands", 2, 2, holds=True, seen=machine.do(look))
    assert "but another one" in lasted([first, later, again], 0, 2)[0][0]
    assert machine.sh("tc qdisc del dev out0 root").returncode == 0
    machine.refuse(look)
    machine.do(LIFT)
