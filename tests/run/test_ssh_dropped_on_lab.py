"""SSH breaks at each moment of a fault, in each way: a typed end in time, one cut at the most, and none in the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from bare_hosts import Bare, bare, cut
from on_lab import until

from chaosk.core.errors import ChaoskError
from chaosk.hosts.transport.ssh import Ssh
from chaosk.run.fault_progress import FaultProgress
from chaosk.run.faults import Faults
from chaosk.run.renewal import Renewal
from chaosk.spec.command import Command, Result

pytestmark = [pytest.mark.lab, pytest.mark.timeout(200), pytest.mark.long]

LEASE = 4.0
PHASES = {"node1": "arm", "node2": "under", "node3": "standing", "node4": "undoing"}
"""By host the word of the command under which its SSH breaks: a moment of a fault each."""
REST = 12.0
"""Seconds that SSH is away while a fault is undone."""
DROPS = "iptables {} INPUT -p tcp --dport 22 -j {}; iptables {} OUTPUT -p tcp --sport 22 -j {}"
LISTENS = "timeout 25 sh -c 'until ss -Hltn sport = :22 | grep -q .; do sleep 0.1; done'"
"""sshd goes into the background first and listens then."""
WAYS = {
    "reset": (
        DROPS.format("-A", *["REJECT --reject-with tcp-reset", "-A", "ACCEPT"]),
        "iptables -F INPUT; iptables -F OUTPUT",
    ),
    "black hole": (DROPS.format("-A", "DROP", "-A", "DROP"), "iptables -F INPUT; iptables -F OUTPUT"),
    "sshd killed": ("pkill -KILL sshd", f"/usr/sbin/sshd -E /var/log/sshd.log; {LISTENS}"),
}
"""By name how SSH breaks on a host, and how it comes back."""


@dataclass
class Breaking:
    """The way to one host, which breaks when a certain command comes for the first time."""

    ssh: Ssh
    word: str
    broken: Callable[[], None]
    timeout: float = 0.0
    """That command's own, once it came."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, command: Command) -> Result:
        """Run it; half of the breaking is before it is sent, and half a moment later."""
        with self.lock:
            hit = command.argv[4:5] == (self.word,) and not self.timeout
            if hit:
                self.timeout = command.timeout
        if hit:
            self.broken()
        return self.ssh.run(command)

    def close(self) -> None:
        """Close the connection."""
        self.ssh.close()


@dataclass(frozen=True)
class Outcome:
    """What became of a fault whose SSH broke."""

    life: FaultProgress | None
    error: ChaoskError | None
    seconds: float
    """From its beginning to its end, or to the error."""
    timeout: float
    unhealed: tuple[str, ...]
    seen: str
    """Again and again, how many cuts the host had: a digit each time."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """A host for each moment."""
    with bare("dropped", 4) as here:
        for host in here.inventory.hosts:
            here.on(
                host, "iptables -A INPUT -j ACCEPT; iptables -F INPUT; iptables -A OUTPUT -j ACCEPT; iptables -F OUTPUT"
            )
        yield here


def watch(hosts: Bare, host: str) -> None:
    """Begin to write down how many cuts a host has."""
    count = "nft list tables | grep -c inet.chaosk"
    loop = f"while [ -e /tmp/watch ]; do {count}; sleep 0.05; done; {count}; touch /tmp/watched"
    hosts.on(host, f"rm -f /tmp/watched; touch /tmp/watch; (setsid sh -c '{loop}' </dev/null >/tmp/seen 2>&1 &)")


def seen(hosts: Bare, host: str) -> str:
    """End that; what was seen, and at last what there is now, however slowly the host counts."""
    wait = "rm /tmp/watch; for _ in $(seq 300); do [ -e /tmp/watched ] && break; sleep 0.1; done"
    return hosts.on(host, f"{wait}; cat /tmp/seen").replace("\n", "")


def play(hosts: Bare, host: str, way: str, folder: Path) -> Outcome:
    """One fault on one host, from its injection to its end."""
    breaks, mends = WAYS[way]
    mended = threading.Event()

    def mend() -> None:
        if not mended.is_set():
            mended.set()
            hosts.on(host, mends)

    def for_a_moment() -> None:
        """While the command runs."""
        hosts.on(host, breaks)
        time.sleep(0.3)
        mend()

    def broken() -> None:
        if way == "reset":
            threading.Timer(0.03, for_a_moment).start()
            return
        hosts.on(host, breaks)
        if PHASES[host] == "undoing":
            threading.Timer(REST, mend).start()

    folder.mkdir()
    transport = Breaking(Ssh(hosts.inventory.hosts), PHASES[host], broken)
    faults = hosts.faults(transport, folder, LEASE)
    watch(hosts, host)
    began = time.monotonic()
    life, error = None, None
    try:
        life = _live(faults, hosts, host)
    except ChaoskError as problem:
        error = problem
    seconds = time.monotonic() - began
    mend()
    unhealed = faults.heal_all()
    transport.close()
    return Outcome(life, error, seconds, transport.timeout, unhealed, seen(hosts, host))


def _live(faults: Faults, hosts: Bare, host: str) -> FaultProgress:
    fault, entry = cut(hosts.inventory, host)
    life = faults.inject(fault, entry, threading.Event())
    faults.end(life)
    return life


@pytest.mark.parametrize("way", WAYS)
def test_ssh_breaks(hosts: Bare, tmp_path: Path, way: str) -> None:
    """In time, typed, healed by the run or by the host; the cut comes once at the most and never comes back."""
    before = {host: hosts.firewall(host) for host in PHASES}
    with ThreadPoolExecutor(len(PHASES)) as pool:
        outcomes = dict(
            zip(PHASES, pool.map(lambda host: play(hosts, host, way, tmp_path / host), PHASES), strict=True)
        )
    for host, outcome in outcomes.items():
        assert outcome.timeout, f"{host}: SSH never broke: this proves nothing"
        assert outcome.seconds <= 2 * outcome.timeout, (host, outcome)
        assert outcome.life is not None or str(outcome.error), (host, outcome)
        assert outcome.unhealed == (), (host, outcome)
        assert outcome.seen.count("01") <= 1, (host, outcome.seen)
        assert set(outcome.seen) <= {"0", "1"}
        assert outcome.seen.endswith("0"), (host, outcome.seen)
        assert hosts.leases(host) == []
    assert {host: hosts.firewall(host) for host in PHASES} == before
    assert "1" not in outcomes["node1"].seen or way == "reset", "without a lease nothing is injected"
    assert outcomes["node4"].life is not None, "undoing ends well, however late"


def test_a_host_without_ssh_heals_itself(hosts: Bare, tmp_path: Path) -> None:
    """In the middle of a fault all packets of SSH vanish: the cut is gone with its lease, and the run knows it."""
    faults = hosts.faults(Ssh(hosts.inventory.hosts), tmp_path, LEASE)
    fault, entry = cut(hosts.inventory, "node1")
    life = faults.inject(fault, entry, threading.Event())
    breaks, mends = WAYS["black hole"]
    assert not hosts.whole("node1")
    hosts.on("node1", breaks)
    with suppress(AssertionError):
        until(lambda: hosts.whole("node1"), LEASE + 1)
    assert hosts.whole("node1")
    renewals = [thread for thread in threading.enumerate() if isinstance(thread, Renewal)]
    until(lambda: any(one.lost for one in renewals), 60)  # an attempt that nobody answers takes its time
    hosts.on("node1", mends)
    faults.end(life)
    assert life.healed is not None
    assert not life.took
    assert "its lease was lost, so the host may have healed itself" in "; ".join(life.why)
    assert hosts.leases("node1") == []
