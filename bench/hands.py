"""How quick chaosk's hands are: a kept connection against a fresh one, and steps on many hosts at one planned time.

``python bench hands [--rounds 50] [--lab NAME]``. A lab is put up; `true` is run on its hosts, as root by sudo and as
the account itself, on a connection that is made for it and on one that is kept; then on all hosts at once at a planned
moment, as steps of a timeline are. One host is also reached over another as its jump host, beside direct: a jump may
cost no more than one round trip a command. When a command starts is stamped by the host; hosts of a lab share this
machine's clock, so the stamps can be compared.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from chaosk import lab
from chaosk.document import load_inventory
from chaosk.hosts.transport.ssh import Ssh
from chaosk.hosts.transport.ssh.gateways import Gateways
from chaosk.lab.namespace import inside
from chaosk.run.clock import now, sleep_until
from chaosk.spec.command import Command
from chaosk.spec.inventory import Host, Inventory, SshSettings
from chaosk.spec.lab_layout import LabLayout

NEVER = threading.Event()
AHEAD = 0.25
"""Seconds between deciding on a moment and the moment."""


def true(host: str, *, sudo: bool = True) -> Command:
    """The least there is to do."""
    return Command(host=host, argv=("true",), sudo=sudo, repeatable=True)


def fresh(inventory: Inventory, rounds: int, *, sudo: bool) -> list[float]:
    """Seconds of a command on a connection of its own."""
    host, times = next(iter(inventory.hosts)), []
    for _ in range(rounds):
        transport = Ssh(inventory.hosts)
        began = time.monotonic()
        transport.run(true(host, sudo=sudo))
        times.append(time.monotonic() - began)
        transport.close()
    return times


def kept(transport: Ssh, host: str, rounds: int, *, sudo: bool) -> list[float]:
    """Seconds of a command on the connection that is there."""
    times = []
    for _ in range(rounds):
        began = time.monotonic()
        transport.run(true(host, sudo=sudo))
        times.append(time.monotonic() - began)
    return times


def over_jump(inventory: Inventory, folder: Path) -> tuple[Host, Host]:
    """The second host of the lab direct, and over the first one as its jump host."""
    jump, target = list(inventory.hosts.values())[:2]
    config = folder / "ssh_config"
    config.write_text(
        f"Host jump\n HostName {jump.address}\n Port {jump.port}\n User {jump.user}\n ProxyJump none\n"
        f"Host *\n IdentityFile {jump.key_file}\n UserKnownHostsFile {jump.known_hosts}\n ProxyJump jump\n"
    )
    return target, target.model_copy(update={"ssh": SshSettings(config=str(config))})


def beside(direct: Host, jumped: Host, rounds: int, *, sudo: bool) -> tuple[list[float], list[float]]:
    """Seconds of a command direct and over a jump host, in turns, so that both meet the same load."""
    transport = Ssh({"direct": direct, "jumped": jumped})
    times: dict[str, list[float]] = {"direct": [], "jumped": []}
    for name in times:
        transport.run(true(name, sudo=sudo))
    for _ in range(rounds):
        for name, own in times.items():
            own.extend(kept(transport, name, 1, sudo=sudo))
    transport.close()
    return times["direct"], times["jumped"]


def round_trips(jump: Host, rounds: int) -> list[float]:
    """Seconds of the smallest request to a host's SSH server and its answer: what a jump over it adds at the least."""
    gateways, times = Gateways(), []
    client = gateways.login("jump", jump)
    link = client.get_transport()
    assert link is not None  # noqa: S101 - it was made right now
    for _ in range(rounds):
        began = time.monotonic()
        link.global_request("keepalive@openssh.com", wait=True)
        times.append(time.monotonic() - began)
    client.close()
    return times


def together(transport: Ssh, hosts: tuple[str, ...], rounds: int) -> tuple[list[float], list[float]]:
    """Seconds that starts were late, and by which the last of a round came after the first; by the hosts' stamps."""
    late, apart = [], []
    epoch = time.time_ns() - time.monotonic_ns()
    with ThreadPoolExecutor(len(hosts)) as pool:
        for _ in range(rounds):
            moment = now() + int(AHEAD * 1e9)

            def start(host: str, moment: int = moment) -> int:
                sleep_until(moment, NEVER)
                return transport.run(true(host)).host_started

            starts = list(pool.map(start, hosts))
            late += [(each - epoch - moment) / 1e9 for each in starts]
            apart.append((max(starts) - min(starts)) / 1e9)
    return late, apart


def told(name: str, times: list[float]) -> str:
    """A line of figures, in milliseconds."""
    p99 = quantiles(times, n=100)[98]
    return f"{name:34} median {median(times) * 1e3:7.1f} ms   p99 {p99 * 1e3:7.1f} ms   ({len(times)})"


def measure(inventory: Inventory, rounds: int) -> None:
    """Measure and print."""
    hosts = tuple(inventory.hosts)
    transport = Ssh(inventory.hosts)
    for host in hosts:
        transport.run(true(host))
    for sudo, who in ((True, "root"), (False, "account")):
        alone = fresh(inventory, rounds, sudo=sudo)
        ready = kept(transport, hosts[0], 4 * rounds, sudo=sudo)
        print(told(f"{who}, fresh connection", alone))
        print(told(f"{who}, kept connection", ready))
        print(f"{f'{who}, kept / fresh':34} {median(ready) / median(alone):.3f} (target 0.1)")
    with TemporaryDirectory() as folder:
        near, far = over_jump(inventory, Path(folder))
        for sudo, who in ((True, "root"), (False, "account")):
            direct, jumped = beside(near, far, 4 * rounds, sudo=sudo)
            print(told(f"{who}, kept, direct", direct))
            print(told(f"{who}, kept, over a jump host", jumped))
        trips = round_trips(inventory.hosts[hosts[0]], 4 * rounds)
        print(told("round trip to the jump host", trips))
        more = median(jumped) - median(direct)
        print(f"{'a jump adds':34} {more * 1e3:.1f} ms (target: a round trip, and 2 ms for its ciphers)")
    late, apart = together(transport, hosts, rounds)
    transport.close()
    print(told("start after its planned time", late))
    print(told(f"first to last of {len(hosts)} hosts", apart) + " (target p99 50 ms)")


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def main() -> int:
    """Put a lab up, measure inside its network, take it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--lab", default="hands")
    options = parser.parse_args()
    path = lab.up(LabLayout(name=options.lab), _say)
    try:
        inventory = load_inventory(path)
        if not isinstance(inventory, Inventory):
            raise SystemExit(f"{path}: not the inventory of a lab that is up")
        inside(f"chaosk-{options.lab}", lambda: measure(inventory, options.rounds))
    finally:
        lab.down(options.lab, _say)
    return 0


if __name__ == "__main__":
    sys.exit(main())
