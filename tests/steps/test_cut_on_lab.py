"""What a cut is like for those who are cut from each other, on hosts without Kafka."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_hosts import DOOR, Bare, bare, cut

from chaosk.core.errors import StepError
from chaosk.hosts.transport.ssh import Ssh

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120)]

REFUSED, SILENT = "1", "124"
"""How a shell ends that tries to connect, at once or when its time is over."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """Two hosts, each with a server."""
    with bare("ends", 2) as here:
        for host in here.inventory.hosts:
            here.on(host, f"setsid python3 -m http.server {DOOR} </dev/null >/dev/null 2>&1 &")
            answers = f"bash -c '</dev/tcp/127.0.0.1/{DOOR}' 2>/dev/null"
            here.on(host, f"for _ in $(seq 100); do {answers} && break; sleep 0.2; done")
        yield here


def ends(hosts: Bare) -> list[str]:
    """From each host to the other how an attempt to connect ends."""
    found = []
    for one, two in (("node1", "node2"), ("node2", "node1")):
        connect = f"timeout 3 bash -c '</dev/tcp/{hosts.inventory.hosts[two].address}/{DOOR}' 2>/dev/null; echo $?"
        found.append(hosts.on(one, connect).strip())
    return found


@pytest.mark.parametrize("firewall", ["nft", "iptables"])
@pytest.mark.parametrize(("action", "status"), [("drop", SILENT), ("reject", REFUSED)])
@pytest.mark.parametrize("other", ["node2", None], ids=["another host", "everyone else"])
def test_both_ends_see_what_was_asked(
    hosts: Bare, tmp_path: Path, firewall: str, action: str, status: str, other: str | None
) -> None:
    """Dropped: silence. Rejected: refused at once, on the host with the rules and on the other; then all is whole."""
    assert ends(hosts) == ["0", "0"]
    transport = Ssh(hosts.inventory.hosts)
    faults = hosts.faults(transport, tmp_path, 30.0)
    life = faults.inject(*cut(hosts.forced(firewall), "node1", "cut", other, action), threading.Event())
    during = ends(hosts)
    faults.end(life)
    transport.close()
    assert during == [status, status]
    assert (life.took, life.healed is not None) == (True, True), life.why
    assert ends(hosts) == ["0", "0"]


def test_a_cut_around_which_connections_are_led_did_not_take(hosts: Bare, tmp_path: Path) -> None:
    """A proxy on the host takes its connections before the packet filter sees them: the rules stand and cut nothing."""
    away = f"-d {hosts.inventory.hosts['node2'].address} -p tcp -j DNAT --to-destination 127.0.0.1:{DOOR}"
    hosts.on("node1", f"iptables -t nat -A OUTPUT {away}")
    transport = Ssh(hosts.inventory.hosts)
    try:
        faults = hosts.faults(transport, tmp_path, 30.0)
        fault, entry = cut(hosts.forced("iptables"), "node1", "cut", "node2", direction="out")
        with pytest.raises(StepError, match=f"port {DOOR} of node2 accepts no connection from node1"):
            faults.inject(fault, entry, threading.Event())
        assert faults.heal_all() == ()
    finally:
        transport.close()
        hosts.on("node1", f"iptables -t nat -D OUTPUT {away}")
    assert ends(hosts) == ["0", "0"]
