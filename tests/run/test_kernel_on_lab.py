"""A cut ends with its lease whatever dies on the host, and whatever the host's clock does; on hosts without Kafka."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bare_hosts import Bare, bare, cut
from on_lab import until

from chaosk.core.errors import StepError
from chaosk.hosts import heal, lease
from chaosk.hosts.lease import Lease
from chaosk.hosts.transport.ssh import Ssh
from chaosk.run.renewal import Renewal
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.step import Run
from chaosk.spec.inventory import Inventory

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120)]

SHORT = 2.0
"""Seconds of a lease."""
PUT_BACK = """\
{ echo '*filter'; iptables-save | grep -- '^-A CHAOSK'; echo COMMIT; } >/tmp/kept
iptables-save | sed -n 's/^:\\(CHAOSK-[^ ]*\\) .*/\\1/p' | while read chain; do iptables -F $chain; done
iptables-restore --noflush </tmp/kept
"""
"""Takes chaosk's own rules out of a host's iptables and puts them back; the others' stay where they are."""
LONG = 5.0
"""Of one that is renewed: a renewal is a round trip, on a machine that may be busy."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """Three hosts."""
    with bare("kernel") as here:
        for host in here.inventory.hosts:
            for tool, theirs in (("iptables", "192.0.2.9"), ("ip6tables", "2001:db8::9")):
                here.on(host, f"{tool} -A INPUT -s {theirs} -j DROP; {tool} -A OUTPUT -d {theirs} -j DROP")
            here.on(host, "nft add table inet ops")
        yield here


@pytest.fixture
def ssh(hosts: Bare) -> Iterator[Ssh]:
    """The way to them; afterwards nothing is left on any."""
    transport = Ssh(hosts.inventory.hosts)
    before = {host: hosts.firewall(host) for host in hosts.inventory.hosts}
    yield transport
    assert {one.state for one in heal.heal(transport, hosts.inventory.hosts)} <= {"whole", "healed"}
    transport.close()
    assert {host: hosts.firewall(host) for host in hosts.inventory.hosts} == before


def done(ssh: Ssh, command: Command) -> Result:
    """Run a command that must succeed."""
    result = ssh.run(command)
    assert result.ok, result
    return result


def armed(ssh: Ssh, inventory: Inventory, host: str, seconds: float) -> tuple[Lease, float]:
    """A cut that stands under a lease, and nobody renews; when the lease was armed at the latest."""
    fault, _ = cut(inventory, host)
    (one,) = lease.leases(fault, "bare-run", "tests")
    done(ssh, lease.arm(one, seconds))
    at = time.monotonic()
    for deed in fault.inject:
        assert isinstance(deed, Run)
        done(ssh, lease.under(one, deed.command))
    return one, at


def outlive(hosts: Bare, ssh: Ssh, host: str) -> tuple[float, float]:
    """Kill the timer under a cut: the seconds from before its arming to its end, and from after it."""
    began = time.monotonic()
    _, at = armed(ssh, hosts.forced("nft"), host, SHORT)
    assert hosts.kill_timers(host) == 1
    assert not hosts.whole(host), "the cut must be there, or this proves nothing"
    until(lambda: hosts.whole(host), SHORT + 2)
    end = time.monotonic()
    (left,) = lease.held(host, ssh.run(lease.listing(host)).stdout)
    assert left.state == "dead"
    (healed,) = heal.heal(ssh, [host])
    assert (healed.state, hosts.leases(host)) == ("healed", [])
    return end - began, end - at


def test_the_kernel_ends_a_cut_whose_timer_was_killed(hosts: Bare, ssh: Ssh) -> None:
    """Twelve of twelve within the lease and a second, and not before it is over; `heal` then clears the table away."""
    with ThreadPoolExecutor(3) as pool:
        took = list(pool.map(lambda host: [outlive(hosts, ssh, host) for _ in range(4)], hosts.inventory.hosts))
    assert [len(each) for each in took] == [4, 4, 4]
    assert all(most >= SHORT for each in took for most, _ in each), took
    assert all(least <= SHORT + 1 for each in took for _, least in each), took


def state_of_lease(ssh: Ssh) -> str:
    """What node1 says of the one lease it has."""
    (held,) = lease.held("node1", ssh.run(lease.listing("node1")).stdout)
    return held.state


def test_a_cut_lasts_as_long_as_its_lease_is_renewed(hosts: Bare, ssh: Ssh) -> None:
    """No packet passes for half as long again as one lease; once nobody renews, the timer takes all of it away."""
    before = hosts.firewall("node1")
    one, _ = armed(ssh, hosts.inventory, "node1", LONG)
    renewal = Renewal(lambda: None if ssh.run(lease.renew(one, LONG)).ok else "refused", "it", LONG)
    renewal.start()
    end = time.monotonic() + 1.5 * LONG
    while time.monotonic() < end:
        assert not hosts.whole("node1")
    renewal.end()
    assert renewal.lost is None
    until(lambda: hosts.whole("node1"), LONG + 1)
    until(lambda: hosts.firewall("node1") == before, 2.0)
    until(lambda: state_of_lease(ssh) == "healed", 2.0)  # which is written when all is checked


def test_a_cut_that_had_a_gap_is_not_renewed(hosts: Bare, ssh: Ssh, tmp_path: Path) -> None:
    """Its elements are gone, as after a time-out: they are not put back, and the fault did not last."""
    faults = hosts.faults(ssh, tmp_path, LONG)
    fault, entry = cut(hosts.inventory, "node2")
    life = faults.inject(fault, entry, threading.Event())
    hosts.on("node2", "nft flush set inet $(nft list tables | sed -n 's/.*inet chaosk/chaosk/p') lease")
    until(lambda: faults._leases.lost(fault) is not None, LONG)
    assert hosts.whole("node2")
    faults.end(life)
    assert not life.took
    assert "the kernel has ended chaosk-" in life.why[0]
    assert "the kernel has ended what the lease bare-run.cut guards" in life.why[1]
    assert life.healed is not None


def test_nothing_is_injected_when_the_lease_has_run_out(hosts: Bare, ssh: Ssh) -> None:
    """Also if the host was slow, and the lease ran out only while the command was on its way to the kernel."""
    fault, _ = cut(hosts.forced("nft"), "node1")
    (one,) = lease.leases(fault, "bare-run", "tests")
    done(ssh, lease.arm(one, 1.0))
    (deed,) = fault.inject
    assert isinstance(deed, Run)
    slow = "sleep 1.5; " + deed.command.argv[2]
    late = deed.command.model_copy(update={"argv": ("sh", "-c", slow, *deed.command.argv[3:])})
    result = ssh.run(lease.under(one, late))
    assert not result.ok
    assert "has run out" in result.stderr
    assert hosts.whole("node1")


def test_iptables_needs_somebody(hosts: Bare, ssh: Ssh) -> None:
    """By iptables a cut outlives its timer; `heal` says so, and ends it."""
    armed(ssh, hosts.forced("iptables"), "node3", SHORT)
    assert hosts.kill_timers("node3") == 1
    time.sleep(SHORT + 1)
    assert not hosts.whole("node3")
    (healed,) = heal.heal(ssh, ["node3"])
    assert hosts.whole("node3")
    assert (healed.state, healed.what.split(": ")[1]) == ("healed", "undone now; the host's own timer was gone")


@pytest.mark.parametrize("firewall", ["nft", "iptables"])
def test_a_host_whose_disk_is_full_heals_itself_all_the_same(hosts: Bare, ssh: Ssh, firewall: str) -> None:
    """Nothing can be written there any more: the timer undoes the cut, and the lease says that it did."""
    before = hosts.firewall("node1")
    hosts.on("node1", "mount -t tmpfs -o size=512k tmpfs /var/lib/chaosk")
    try:
        armed(ssh, hosts.forced(firewall), "node1", SHORT)
        hosts.on("node1", "cat /dev/zero >/var/lib/chaosk/fill 2>/dev/null || true")
        until(lambda: hosts.firewall("node1") == before, SHORT + 1)
        until(lambda: state_of_lease(ssh) == "healed", 2.0)  # which is written when all is checked
    finally:
        hosts.on("node1", "umount --lazy /var/lib/chaosk")  # the timer may still be ending there


def test_a_host_with_a_full_disk_gets_no_fault(hosts: Bare, ssh: Ssh, tmp_path: Path) -> None:
    """Its lease cannot be kept there, so nothing is injected and nothing of it is left."""
    hosts.on("node1", "mkdir -p /var/lib/chaosk && mount -t tmpfs -o size=16k tmpfs /var/lib/chaosk")
    try:
        hosts.on("node1", "cat /dev/zero >/var/lib/chaosk/fill 2>/dev/null || true")
        faults = hosts.faults(ssh, tmp_path, SHORT)
        fault, entry = cut(hosts.inventory, "node1")
        with pytest.raises(StepError, match=r"(?s)cut: not injected, no lease can be armed: node1: .*cannot write"):
            faults.inject(fault, entry, threading.Event())
        assert hosts.whole("node1")
        assert hosts.leases("node1") == []
        assert faults.heal_all() == ()
    finally:
        hosts.on("node1", "umount /var/lib/chaosk")


@pytest.mark.parametrize("jump", ["+3600s", "-3600s", "+288s"])
def test_a_wall_clock_that_jumps_moves_no_lease(hosts: Bare, ssh: Ssh, tmp_path: Path, jump: str) -> None:
    """An hour on, an hour back, or some minutes: the timer undoes the cut when the lease is over, not else.

    These hosts share this machine's clock, so it is libfaketime that moves it, for the timer and all that it starts.
    """
    fault, _ = cut(hosts.forced("iptables"), "node2")
    (one,) = lease.leases(fault, "bare-run", "tests")
    hosts.on("node2", "mkdir -p /tmp/clock; echo +0s >/tmp/clock/now")
    fake = {
        "LD_PRELOAD": "$(dpkg -L libfaketime | grep libfaketime.so)",
        "FAKETIME_TIMESTAMP_FILE": "/tmp/clock/now",  # noqa: S108 - the host's
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # as the kernel: only the wall clock is set
    }
    command = lease.arm(one, SHORT)
    setting = " ".join(f'{name}="{value}"' for name, value in fake.items())
    faked = ("sh", "-c", f'export {setting}; exec "$@"', "sh", *command.argv)
    began = time.monotonic()
    done(ssh, command.model_copy(update={"argv": faked}))
    armed = time.monotonic()  # on a busy machine a good while after the lease began
    (deed,) = fault.inject
    assert isinstance(deed, Run)
    done(ssh, lease.under(one, deed.command))
    pid = hosts.on("node2", "cat /var/lib/chaosk/leases/*/timer").strip()
    assert "libfaketime" in hosts.on("node2", f"cat /proc/{pid}/maps"), "the timer's clock is not moved"
    hosts.on("node2", f"echo '{jump}' >/tmp/clock/now")
    until(lambda: hosts.whole("node2"), SHORT + 2)
    ended = time.monotonic()
    assert ended - began >= SHORT - 0.1
    assert ended - armed <= SHORT + 1


@pytest.mark.parametrize("firewall", ["nft", "iptables"])
def test_a_cut_that_was_put_back_did_not_last(hosts: Bare, ssh: Ssh, tmp_path: Path, firewall: str) -> None:
    """Exactly the same rules, a moment later: what they are told by, or their counters, is not what it was."""
    faults = hosts.faults(ssh, tmp_path, 30.0)
    fault, entry = cut(hosts.forced(firewall), "node2")
    life = faults.inject(fault, entry, threading.Event())
    assert not hosts.whole("node2")
    if firewall == "nft":
        table = "$(nft list tables | sed -n 's/.*inet chaosk/chaosk/p')"
        hosts.on("node2", f"nft list table inet {table} >/tmp/kept; nft delete table inet {table}; nft -f /tmp/kept")
    else:
        hosts.on("node2", PUT_BACK)
    assert not hosts.whole("node2")
    faults.end(life)
    assert not life.took
    assert "did not last: it ended and came back between two looks: the cut is in place on node2" in life.why[0]
    assert life.healed is not None


@pytest.mark.parametrize("firewall", ["nft", "iptables"])
def test_a_cut_that_nobody_touches_lasts(hosts: Bare, ssh: Ssh, tmp_path: Path, firewall: str) -> None:
    """Through several renewals, with others' rules beside it that come and go."""
    faults = hosts.faults(ssh, tmp_path, LONG)
    fault, entry = cut(hosts.forced(firewall), "node2")
    life = faults.inject(fault, entry, threading.Event())
    until(lambda: sum(look.by_host for look in life.looks) >= 2, 30.0)
    hosts.on("node2", "iptables -A INPUT -s 192.0.2.10 -j DROP; nft add table inet others")
    seen = len(life.looks)
    until(lambda: len(life.looks) >= seen + 2, 30.0)
    hosts.on("node2", "iptables -D INPUT -s 192.0.2.10 -j DROP; nft delete table inet others")
    faults.end(life)
    assert (life.took, life.why) == (True, [])


def test_a_renewal_tells_of_a_table_that_is_gone(hosts: Bare, ssh: Ssh, tmp_path: Path) -> None:
    """While it lasts, not only at its end: with when it was last there, and that its host was emptied."""
    faults = hosts.faults(ssh, tmp_path, LONG)
    fault, entry = cut(hosts.forced("nft"), "node2")
    life = faults.inject(fault, entry, threading.Event())
    hosts.on("node2", "nft delete table inet $(nft list tables | sed -n 's/.*inet chaosk/chaosk/p')")
    until(lambda: life.told, 15.0)
    assert hosts.whole("node2")
    faults.end(life)
    assert not life.took
    assert "did not last: before undoing it, not seen: the cut is in place on node2 (no table chaosk-" in life.why[0]
    assert "last seen in place 0.0 s after it took" in life.why[0]
    assert life.healed is not None, "undoing what is gone is no trouble"
