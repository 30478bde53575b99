"""The script that gives a host one address more, by each shell, in networks of the tests' own; it takes root."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bystander import lives

from chaosk.hosts.scripts import script

pytestmark = pytest.mark.lab

Ask = Callable[..., subprocess.CompletedProcess[str]]
NEW = {4: "198.18.7.9", 6: "fd67::9"}
WIRE = """\
ip link add wire0 type veth peer name wire1 netns "$1" && ip link set lo up && ip link set wire0 addrgenmode none
for at in 198.18.7.1/24 fd67::1/64; do ip addr add $at dev wire0 $(case $at in *::*) echo nodad ;; esac); done
ip link set wire0 up
for kind in ipv4 ipv6; do echo 100 >/proc/sys/net/$kind/neigh/wire0/retrans_time_ms; done  # ten times as fast
nsenter --target "$1" --net sh -c '
    ip link set lo up && ip link set wire1 addrgenmode none
    for at in 198.18.7.2/24 fd67::2/64; do ip addr add $at dev wire1 $(case $at in *::*) echo nodad ;; esac); done
    ip link set wire1 up'
for _ in $(seq 500); do ip -o link show wire0 | grep -q LOWER_UP && exit; sleep 0.01; done; exit 1  # it takes a moment
"""
SERVE = """\
import socket, sys, time
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.create_server((sys.argv[1], 9092), family=family, dualstack_ipv6=sys.argv[1] == "::") as server:
    print("up", flush=True)
    link = server.accept()[0]
    print("called", flush=True)
    try:
        while True:
            link.sendall(b"y")
            time.sleep(0.1)
    except OSError as error:
        print(error.strerror, flush=True)
"""
CALL = """\
import socket, sys
link = socket.create_connection((sys.argv[1], 9092), 10)
print("up", flush=True)
link.settimeout(15)
try:
    for _ in range(50):
        link.sendall(b"x")
        link.settimeout(0.2)
        try:
            link.recv(1)
        except TimeoutError:
            pass
except ConnectionResetError:
    print("reset", flush=True)
"""
ALONE = ("unshare", "--net", "--mount", "--propagation", "private")


@pytest.fixture
def host() -> Iterator[int]:
    """What stands for the host."""
    with lives(*ALONE) as pid:
        yield pid


@pytest.fixture
def peer(host: int) -> Iterator[int]:
    """Another machine in the host's network."""
    with lives(*ALONE) as pid:
        within(host, "sh", "-c", WIRE, "sh", str(pid))
        yield pid


def within(machine: int, *words: str) -> str:
    """What a command says that is run on a machine."""
    return subprocess.run(
        ["nsenter", "--target", str(machine), "--net", "--mount", *words], capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(params=[shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def ask(host: int, peer: int, tmp_path: Path, request: pytest.FixtureRequest) -> Ask:
    """The script on the host, with notes in a place of its own; ``path`` comes before its other programs."""
    shell = ["busybox", "sh"] if request.param == "busybox" else [request.param]

    def run(action: str, *ports: str, at: str = NEW[4], path: str = "") -> subprocess.CompletedProcess[str]:
        text = script("address").replace("/var/lib/chaosk", str(tmp_path / "kept"))
        found = f"PATH={path}{':' if path else ''}/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
        argv = ["env", found, *shell, "-c", text, "chaosk", action, "0a", at, *ports]
        machine = ["nsenter", "--target", str(host), "--net", "--mount"]
        return subprocess.run([*machine, *argv], capture_output=True, text=True, check=False)

    return run


class Talk:
    """A program on a machine, whose lines are read one at a time."""

    def __init__(self, machine: int, program: str, address: str) -> None:
        """It runs, and has said that it is up."""
        words = ["nsenter", "--target", str(machine), "--net", sys.executable, "-c", program, address]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.line() == "up"

    def line(self) -> str:
        """The next line; nothing if it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def talk() -> Iterator[Callable[[int, str, str], Talk]]:
    """Programs that end with the test."""
    every: list[Talk] = []

    def begin(machine: int, program: str, address: str) -> Talk:
        every.append(Talk(machine, program, address))
        return every[-1]

    yield begin
    for one in every:
        one.end()


@pytest.fixture(params=["kernel", "nft", "iptables"])
def programs(host: int, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder of programs that leave only that way to end connections."""
    folder = tmp_path / "programs"
    folder.mkdir()
    if request.param != "kernel":  # one that cannot end connections, as some kernels
        fake(folder / "ss", f'case " $* " in *" -K "*) exit 0 ;; esac\nexec {shutil.which("ss")} "$@"\n')
    if request.param == "iptables":
        fake(folder / "nft", "exit 1\n")
        if within(host, "iptables", "--version").endswith("(legacy)\n"):
            pytest.skip("the tables of iptables-legacy stay once they were used")
    return folder


def addresses(machine: int) -> str:
    """All that the machine has, and its routes."""
    return within(machine, "sh", "-c", "ip -o addr show; ip route; ip -6 route; ip route show table local")


def refusals(machine: int) -> str:
    """Whatever its packet filters hold."""
    return within(machine, "sh", "-c", "nft list tables; iptables-save; ip6tables-save")


@pytest.mark.parametrize("family", [4, 6])
def test_the_host_has_it_and_then_not(host: int, peer: int, ask: Ask, family: int, tmp_path: Path) -> None:
    """Twice is as once, both ways; its neighbour reaches it meanwhile; neither address nor route is left."""
    before, at = addresses(host), NEW[family]
    assert ask("fits", at=at).returncode == 0, ask("fits", at=at).stderr
    assert ask("gone", at=at).returncode == 0
    assert "was not added" in ask("there", at=at).stderr
    assert ask("add", at=at).returncode == ask("add", at=at).returncode == 0, ask("add", at=at).stderr
    assert ask("there", at=at).stdout == f"wire0 has {at}\n"
    within(peer, sys.executable, "-c", f"import socket\ntry: socket.create_connection(({at!r}, 9), 5)\n"
           "except ConnectionRefusedError: pass")  # fmt: skip
    assert "not taken away" in ask("gone", at=at).stderr
    assert "already" in ask("fits", at=at).stderr
    assert ask("remove", at=at).returncode == ask("remove", at=at).returncode == ask("gone", at=at).returncode == 0
    assert addresses(host) == before
    assert list((tmp_path / "kept" / "address").iterdir()) == []


@pytest.mark.parametrize("family", [4, 6])
def test_who_is_connected_is_told(
    host: int, peer: int, ask: Ask, talk: Callable[..., Talk], programs: Path, family: int
) -> None:  # fmt: skip
    """A client is reset before its peer's address is gone, by the kernel or by a rule of which nothing is left."""
    before, at = refusals(host), NEW[family]
    assert ask("add", at=at).returncode == 0
    server = talk(host, SERVE, "::" if family == 6 else "0.0.0.0")  # noqa: S104 - a network of its own
    caller = talk(peer, CALL, at)
    assert server.line() == "called"
    done = ask("remove", at=at, path=str(programs))
    assert done.returncode == 0, done.stderr
    assert caller.line() == "reset"
    assert server.line() in {"Connection reset by peer", "Broken pipe", "Software caused connection abort"}
    assert at not in addresses(host)
    left = refusals(host)
    assert "chaosk" not in left
    assert [line for line in left.splitlines() if line.startswith("-A")] == [
        line for line in before.splitlines() if line.startswith("-A")
    ]


def fake(program: Path, text: str) -> None:
    """A shell script in place of a program."""
    program.write_text(f"#!/bin/sh\n{text}")
    program.chmod(0o755)


def test_what_somebody_has_is_refused(host: int, peer: int, ask: Ask) -> None:
    """The neighbour's address, also if he takes it after the question; the host's own; nothing is done."""
    before = addresses(host)
    assert "somebody has 198.18.7.2" in ask("fits", at="198.18.7.2").stderr
    assert "somebody has 198.18.7.2" in ask("add", at="198.18.7.2").stderr
    assert "is an address of this host already" in ask("fits", at="198.18.7.1").stderr
    assert "is an address of this host already" in ask("add", at="198.18.7.1").stderr
    assert ask("fits").returncode == 0
    within(peer, "ip", "addr", "add", f"{NEW[4]}/24", "dev", "wire1")
    assert f"somebody has {NEW[4]}" in ask("add").stderr
    assert addresses(host) == before
    assert ask("gone").returncode == 0


def test_what_is_in_no_network_of_the_host_is_refused(host: int, ask: Ask) -> None:
    """Where there is no way to it, and where somebody else would have to pass it on."""
    assert "no network that 203.0.113.9 is in" in ask("fits", at="203.0.113.9").stderr
    within(host, "ip", "route", "add", "default", "via", "198.18.7.2")
    assert "no network that 203.0.113.9 is in" in ask("fits", at="203.0.113.9").stderr
    assert "no network that 203.0.113.9 is in" in ask("add", at="203.0.113.9").stderr


@pytest.mark.parametrize(
    ("at", "family", "fits"),
    [("198.18.7.1", 4, False), ("0.0.0.0", 4, True), ("::", 4, True), ("::", 6, True), ("0.0.0.0", 6, False)],  # noqa: S104
)
def test_what_is_served_at_one_address_only_is_refused(
    host: int, ask: Ask, talk: Callable[..., Talk], at: str, family: int, *, fits: bool
) -> None:  # fmt: skip
    """A broker that listens where it is advertised would not be found at its new address."""
    talk(host, SERVE, at)
    assert (ask("fits", "9092", at=NEW[family]).returncode == 0) is fits
    assert "nothing serves port 9093 at all addresses" in ask("fits", "9093", at=NEW[family]).stderr


def test_what_is_not_ours_stays(host: int, ask: Ask, tmp_path: Path) -> None:
    """After a boot, and if somebody has taken ours away, there is nothing to do; an address of others is left alone."""
    assert ask("add").returncode == 0
    within(host, "ip", "addr", "del", f"{NEW[4]}/32", "dev", "wire0")
    assert "taken 198.18.7.9 away" in ask("there").stderr
    within(host, "ip", "addr", "add", f"{NEW[4]}/24", "dev", "wire0")
    assert ask("remove").returncode == 0
    assert f"{NEW[4]}/24" in addresses(host)
    within(host, "ip", "addr", "del", f"{NEW[4]}/24", "dev", "wire0")
    assert ask("add").returncode == 0
    note = tmp_path / "kept" / "address" / "0a"
    note.write_text("another boot\n" + note.read_text().partition("\n")[2])
    assert ask("remove").returncode == ask("gone").returncode == 0
    assert f"{NEW[4]}/32" in addresses(host)


def test_half_an_addition_is_taken_back(host: int, ask: Ask, tmp_path: Path) -> None:
    """Killed after the note was written; and a rule that a killed removal has left goes with the next one."""
    assert ask("add").returncode == 0
    within(host, "ip", "addr", "del", f"{NEW[4]}/32", "dev", "wire0")
    assert ask("remove").returncode == ask("gone").returncode == 0
    assert ask("add").returncode == 0
    within(host, "nft", "add", "table", "inet", "chaosk-address-0a")
    assert ask("remove").returncode == 0
    assert "chaosk" not in refusals(host)
    assert list((tmp_path / "kept" / "address").iterdir()) == []
