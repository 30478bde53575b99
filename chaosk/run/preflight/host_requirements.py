"""Programs that a host needs for a plan: those that the steps' own commands execute there. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from chaosk.core.errors import ChaoskError
from chaosk.hosts.commands.shape import Means, means
from chaosk.hosts.localhost import HERE
from chaosk.hosts.scripts import script
from chaosk.planning.example_cluster import ExampleCluster
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.contracts.target import Scene
from chaosk.spec.expression import parse_target
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry, Scenario
from chaosk.steps._shaping import Shaping
from chaosk.steps.lose_packets import LosePackets
from chaosk.steps.skew_clock import SkewClock

PACKAGES = {
    "awk": "mawk", "basename": "coreutils", "bash": "bash", "cat": "coreutils", "chmod": "coreutils",
    "chown": "coreutils", "cp": "coreutils", "cut": "coreutils", "date": "coreutils",
    "dd": "coreutils", "df": "coreutils", "dmesg": "util-linux", "du": "coreutils",
    "env": "coreutils", "find": "findutils",
    "flock": "util-linux", "getent": "libc-bin", "grep": "grep", "head": "coreutils", "id": "coreutils",
    "ip": "iproute2", "ip6tables": "iptables", "ip6tables-restore": "iptables", "ip6tables-save": "iptables",
    "iptables": "iptables", "iptables-restore": "iptables", "iptables-save": "iptables", "ln": "coreutils",
    "mkdir": "coreutils",
    "ls": "coreutils", "namei": "util-linux",
    "mount": "mount", "mv": "coreutils", "nft": "nftables", "nproc": "coreutils", "nsenter": "util-linux",
    "readlink": "coreutils", "rm": "coreutils", "rmdir": "coreutils", "sed": "sed", "setpriv": "util-linux",
    "setsid": "util-linux", "sha256sum": "coreutils", "sleep": "coreutils", "sort": "coreutils", "ss": "iproute2",
    "stat": "coreutils", "sync": "coreutils", "systemctl": "systemd", "systemd-run": "systemd", "tail": "coreutils",
    "tc": "iproute2", "timeout": "coreutils", "tr": "coreutils", "umount": "mount", "uname": "coreutils",
    "unshare": "util-linux",
}  # fmt: skip
"""The Debian package of each program."""

OPTIONAL = ("ip6tables", "nft", "tc", "unshare")
"""Programs that the scripts can do without on some hosts; `chaosk doctor` reports them."""

SCRIPTS = {
    "address": "awk cat grep ip mkdir mv rm sleep ss sync",
    "boot": "cat readlink sleep",
    "certificate": "awk cat chown find grep head id mkdir mv namei readlink rm sed setpriv stat sync timeout tr",
    "clock": "awk cat date grep mkdir mv readlink rm sed setsid sleep sync",
    "corrupt": "awk cat cut date dd find head id mkdir mv namei readlink rm sed setpriv sleep sort stat sync "
    "tail timeout tr",
    "cut": "awk cat cut getent grep sed sort tr",
    "discover": "awk cat find grep head id ip namei readlink sed setpriv sort stat systemctl tail timeout tr uname",
    "disk": "awk dd df head readlink rm stat",
    "dump": "awk find head id namei readlink sed setpriv sort stat timeout",
    "examine": "awk head id namei readlink setpriv stat tail timeout uname",
    "identity": "awk cat cut date find grep head id ls namei readlink sed setpriv sort stat timeout tr",
    "lease": "awk cat chmod flock grep mkdir mv rm setsid sleep sync tail tr",
    "load": "awk cat grep head nproc sed setsid sleep tail",
    "lock": "awk cat flock mkdir mv rm",
    "mapper": "awk cat cut date dd find grep head id mkdir mount mv namei readlink rm rmdir sed setpriv sleep "
    "sort stat sync timeout tr umount",
    "oom": "awk cat cut date dmesg head id namei readlink sed setpriv stat sync timeout tr",
    "owner": "chown find head id mkdir mv readlink rm stat sync",
    "parent": "awk cat cut date head id mv namei readlink sed setpriv stat timeout tr",
    "readonly": "awk cat cut date grep head id mkdir mount mv namei nsenter readlink rm sed setpriv stat sync "
    "timeout tr umount",
    "reset": "awk bash cut getent ip sleep sort ss timeout unshare",
    "service": "awk cat cut date find head id namei readlink sed setpriv sleep stat timeout tr",
    "settings": "awk find head id namei readlink sed setpriv stat timeout tr",
    "shape": "awk cat cut getent grep head ip mkdir mv rm sed sort sync tc tr unshare",
    "supervisor": "awk grep head mkdir mv rm rmdir tr",
    "topic": "awk find grep head id namei readlink sed setpriv stat timeout",
    "state": "awk cat grep head id namei readlink sed setpriv sort stat timeout tr",
    "version": "awk basename cat chown cut date find head id ln mkdir mv namei readlink rm sed setpriv "
    "sha256sum sleep stat sync timeout tr",
    "wipe": "awk cat chmod chown cut date du find head id ls mkdir mv namei readlink rm rmdir sed "
    "setpriv stat sync timeout tr",
}
"""The required programs of each script in ``chaosk/hosts/scripts``. A cut also needs nft or iptables, and a disk
dmsetup and e2fsck: the script tests for these itself, since most hosts do not have them and do not need them."""
HERE_TOOLS = "awk bash cat chmod cut flock grep mkdir mv rm setsid sleep sync tail timeout tr"
"""Programs that chaosk's own machine needs for power switches, and for its leases for them."""
ALWAYS = ("examine", "lease", "lock", "state")
"""Scripts of every run."""
_TRANSPORT = ("env", "date", "timeout")


def programs(name: str) -> frozenset[str]:
    """Return the required programs of a script."""
    return frozenset(SCRIPTS[name].split())


@dataclass(frozen=True, slots=True)
class HostRequirements:
    """The requirements of every host."""

    tools: tuple[str, ...]
    """Programs, by name."""
    cuts: bool
    """A working packet filter, nft or iptables."""
    beside: tuple[str, ...] = ()
    """Those of the tools that steps run as root directly, outside chaosk's scripts."""
    queues: tuple[Means, ...] = ()
    """Queueing disciplines that the kernel must have."""
    clocks: bool = False
    """A kernel, and so a clock, of its own."""
    losses: bool = False
    """A packet filter that drops packets at random."""


def needs(scenario: Scenario | None, inventory: Inventory) -> HostRequirements:
    """Return the requirements of a scenario on every host; without one, those of all features of chaosk."""
    if scenario is None:
        scripts, others, queues = frozenset(SCRIPTS), dict[str, bool](), frozenset[Means]()
    else:
        scripts, others, queues = _of_timeline(scenario, inventory)
    found = frozenset(_TRANSPORT).union(others, *(programs(name) for name in (*ALWAYS, *scripts)))
    beside = tuple(sorted(name for name, as_root in others.items() if as_root))
    clocks = scenario is not None and any(isinstance(entry.step, SkewClock) for entry in scenario.timeline)
    losses = scenario is not None and any(isinstance(entry.step, LosePackets) for entry in scenario.timeline)
    return HostRequirements(
        tuple(sorted(found)), cuts="cut" in scripts, beside=beside, queues=tuple(sorted(queues)),
        clocks=clocks, losses=losses,
    )  # fmt: skip


def _of_timeline(scenario: Scenario, inventory: Inventory) -> tuple[frozenset[str], dict[str, bool], frozenset[Means]]:
    """Return the scripts that its steps run, other programs with True if run as root, and the queueing disciplines.

    Computed on an example cluster; all scripts if that fails.
    """
    scripts: set[str] = {"dump"} if any(probe.transacts() for probe in scenario.probes.values()) else set()
    others: dict[str, bool] = {}
    queues: set[Means] = set()
    for entry in scenario.timeline:
        if isinstance(entry.step, Shaping):
            queues.add(means(entry.step.how()))
        try:
            for command in (one for one in _commands(entry, inventory) if one.host != HERE):
                ours = {name for name in SCRIPTS if any(script(name) in word for word in command.argv)}
                scripts |= ours
                if not ours:
                    others[command.argv[0]] = others.get(command.argv[0], False) or command.sudo
        except ChaoskError:
            scripts |= SCRIPTS.keys()  # its targets do not resolve on the example, but may on the cluster
    return frozenset(scripts), others, frozenset(queues)


def _commands(entry: Entry, inventory: Inventory) -> Iterator[Command]:
    scene = Scene(inventory, ExampleCluster(inventory), Random(0))  # noqa: S311 - any node will do
    aims = {text: parse_target(text).resolve(scene) for text in entry.step.targets()}
    site = Site(inventory=inventory, run_id="example", entry=entry.name, aims=aims)
    step = entry.step
    deeds: tuple[Iterator[Deed] | Iterator[Fact], ...] = (
        step.before(site), step.inject(site), step.verify(site), step.undo(site), step.healed(site),
        step.tidy(site), step.watch(site),
    )  # fmt: skip
    for each in deeds:
        for deed in each:
            if isinstance(deed, Run):
                yield deed.command
            elif isinstance(deed, Fact) and isinstance(deed.query, Command):
                yield deed.query
