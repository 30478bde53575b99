"""What scripts that run as root open, seen by their system calls, is what they are declared to open."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from account import AS_ACCOUNT, GROUP, KAFKA, reached_by_all
from bystander import lives
from on_lab import until
from opened import GATE, SCRIPTS, UNTRACED, declared, entries, undeclared
from sample_inventory import INVENTORY
from traced import Host
from tracing import Touch

from chaosk.hosts import lease, sudo_gate
from chaosk.hosts.lease import Lease
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command

pytestmark = pytest.mark.lab

ALONE = ("unshare", "--net", "--mount", "--propagation", "private")
MADE = """\
for at in /var/lib /run /usr/local/sbin; do mount -t tmpfs -o mode=755 tmpfs $at; done
ip link set lo up && ip link add wire0 type veth peer name wire1
ip addr add 198.18.7.1/24 dev wire0 && ip link set wire0 up && ip link set wire1 up
echo 100 >/proc/sys/net/ipv4/neigh/wire0/retrans_time_ms
for _ in $(seq 500); do ip -o link show wire0 | grep -q LOWER_UP && exit; sleep 0.01; done; exit 1
"""
"""Folders that the machine has, empty, and an interface to nobody."""
SYSTEMCTL = """\
#!/bin/sh
held=/run/systemd/system/kafka.service.d/zz-chaosk-run-1.e.conf
case "$*" in
    *"--property Id --value"*) echo kafka.service ;;
    *"--property Restart "*) if [ -e "$held" ]; then echo no; else echo always; fi ;;
    *DropInPaths*) [ ! -e "$held" ] || echo "$held" ;;
esac
true
"""
"""What stands for systemd: a unit that is started again, unless a drop-in keeps it from that."""
SERVES = 'exec 9>"$2/.lock" 8<"$3"; while :; do sleep 0.2; done'
AROUND = 'echo "$$" >"$0.around"; "$@" & echo "$!" >"$0"; wait "$!"'
"""A shell that starts a server, writes down which it is, and waits for it."""
RULES = "4 I -s 198.18.7.2 -j DROP\n4 O -d 198.18.7.2 -j DROP\n"


class Yard:
    """A folder of the server's account: its data, its installations of Kafka, its pid file, and a start script."""

    def __init__(self, root: Path) -> None:
        self.root, self.data, self.pid_file = root, root / "disks" / "data", root / "run" / "kafka.pid"
        self.config, self.link, self.start = root / "server.properties", root / "current", root / "start.sh"
        (self.data / "orders-0").mkdir(parents=True)
        self.fill()
        (root / "run").mkdir()
        self.config.write_text("node.id=1\n")
        for version in ("3.9.1", "3.9.2"):
            (root / f"kafka-{version}" / "libs").mkdir(parents=True)
            (root / f"kafka-{version}" / "libs" / f"kafka-clients-{version}.jar").touch()
        self.link.symlink_to("kafka-3.9.2")
        self.tools(root / "kafka")
        shutil.copy("/bin/dash", root / "java")
        self.start.write_text(f"#!/bin/sh\nsetsid {' '.join(self.words)} >/dev/null 2>&1 &\necho $! >{self.pid_file}\n")
        self.start.chmod(0o755)
        theirs(root)

    def fill(self) -> None:
        """Put records into the data directory."""
        (self.data / "orders-0").mkdir(exist_ok=True)
        (self.data / "orders-0" / f"{0:020}.log").write_bytes(b"batch" * 4096)
        (self.data / "meta.properties").write_text("node.id=1\n")

    @staticmethod
    def tools(home: Path) -> None:
        """Programs of Kafka's, which open a file of their own."""
        (home / "bin").mkdir(parents=True)
        for name in ("kafka-configs.sh", "kafka-acls.sh", "kafka-topics.sh", "kafka-dump-log.sh"):
            (home / "bin" / name).write_text("#!/bin/sh\ncat /etc/shadow\nexit 0\n")
            (home / "bin" / name).chmod(0o755)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that is the server."""
        jar = self.link / "libs" / "kafka-clients-3.9.2.jar"
        return tuple(map(str, (self.root / "java", "-c", f"'{SERVES}'", "kafka.Kafka", self.config, self.data, jar)))

    @property
    def place(self) -> tuple[object, ...]:
        """KIND, PLACE and CONFIG."""
        return ("script", self.pid_file, self.config)

    @contextmanager
    def served(self, host: Host) -> Iterator[None]:
        """The server runs there, and a shell around it."""
        words = [word.strip("'") for word in self.words]
        own = ("unshare", "--mount", "--propagation", "private")  # as systemd gives it to units
        argv = [*host.inside, *own, *AS_ACCOUNT, "setsid", "sh", "-c", AROUND, str(self.pid_file), *words]
        with subprocess.Popen(argv) as around:
            until(lambda: (self.data / ".lock").exists() and bool(self.pid_file.read_text()), 10)
            try:
                yield
            finally:
                os.killpg(int((self.root / "run" / "kafka.pid.around").read_text()), 9)
                around.wait()
        (self.data / ".lock").unlink()


def theirs(root: Path) -> None:
    """Everything there is the account's."""
    for path in (root, *root.rglob("*")):
        os.lchown(path, KAFKA, GROUP)


def alone(path: str) -> bool:
    """Whether a path is root's alone, as scripts ask namei."""
    for each in (Path(path), *Path(path).parents):
        try:
            found = each.lstat()
        except FileNotFoundError:
            continue
        shared = found.st_mode & 0o022 and not stat.S_ISLNK(found.st_mode) and not found.st_mode & stat.S_ISVTX
        if found.st_uid != 0 or shared:
            return False
    return True


@pytest.fixture(scope="module")
def touches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Touch]]:
    """What all the scripts did, each asked for what it can do on such a host."""
    folder = tmp_path_factory.mktemp("traces")
    with reached_by_all() as root, reached_by_all() as roots, lives(*ALONE) as pid:
        host, yard = Host(pid, folder, GATE), Yard(root)
        host.sh(MADE)
        with yard.served(host):
            on_a_server(host, yard)
            on_whoever_is_around_it(host, yard)
        on_starts_and_stops(host, yard, roots)
        on_data(host, yard)
        on_installations(host, yard, roots)
        on_tools(host, yard, roots)
        on_the_network(host)
        on_leases(host)
        on_the_host(host, yard)
        yield host.touches()


def on_a_server(host: Host, yard: Yard) -> None:
    """Scripts that look at a server that runs, or do something to it."""
    for words in ("runs", "awake", "signal STOP", "frozen", "signal-if-running CONT", "start "):
        action, *more = words.split(" ")
        host.ask("service", action, *yard.place, *more)
    for words in ("gone", "ended run-1.e"):
        action, *more = words.split()
        assert host.run("service", action, *yard.place, *more).returncode
    host.ask("identity", "is", *yard.place, "1", "22,23", yard.data)
    for action in ("fits", "put", "stands", "lift", "gone"):
        host.ask("readonly", action, "0a", yard.data, *yard.place)
    host.ask("version", "fits", yard.link, *yard.place, "3.9.1", yard.root / "kafka-3.9.1", "release")
    host.ask("state", "script", yard.pid_file, "data", yard.data, "link", yard.link)
    host.ask("discover")


def on_whoever_is_around_it(host: Host, yard: Yard) -> None:
    """Its shell is held, the server killed, and the shell let go on."""
    host.sh("mkdir -p /var/lib/chaosk/leases/run-1.e")
    under = "/var/lib/chaosk/leases/run-1.e"
    for action in ("fits", "hold", "held"):
        host.ask("parent", action, *yard.place, "run-1.e", lease=under)
    host.ask("service", "kill", *yard.place, lease=under)
    until(lambda: host.run("service", "gone", *yard.place, lease=under).returncode == 0, 10)
    for action in ("release", "released"):
        host.ask("parent", action, *yard.place, "run-1.e", lease=under)
    host.ask("service", "ended", *yard.place, "run-1.e")
    host.sh("rm -r /var/lib/chaosk/leases")


def on_starts_and_stops(host: Host, yard: Yard, roots: Path) -> None:
    """By a program of the account's, and by one of root's."""
    stop = roots / "stop.sh"
    stop.write_text(f"#!/bin/sh\nkill -KILL $(cat {yard.pid_file})\ncat /etc/shadow\n")
    stop.chmod(0o755)
    yard.pid_file.write_text("0\n")
    starts = ("start", *yard.place, "", yard.start, yard.start)
    with host.leaving(*words("service"), *map(str, starts)):
        until(lambda: host.run("service", "runs", *yard.place).returncode == 0, 20)
        host.ask("service", "stop", *yard.place, stop, stop)


def on_data(host: Host, yard: Yard) -> None:
    """Scripts that work in a data directory whose server does not run."""
    at = (yard.data, *yard.place)
    for action in ("fits", "wipe", "stands", "settle", "settled", "wipe"):
        host.ask("wipe", action, "0a", *at)
    yard.fill()
    theirs(yard.root / "disks")
    for action in ("settled", "discard"):
        host.ask("wipe", action, "0a", *at)
    host.ask("wipe", "wipe", "0b", *at)
    yard.fill()
    theirs(yard.root / "disks")
    host.ask("wipe", "keep", "0b", *at)
    for action in ("fits", "corrupt", "mend", "mended"):
        host.ask("corrupt", action, "0a", *at, "orders-0")
    for words in ("fits size 4096", "fill size 4096", "filled size 4096", "empty", "gone"):
        action, *more = words.split()
        host.ask("disk", action, yard.data / "chaosk-fill-0a", *more)
    for words in ("fits nobody", "change nobody", "changed nobody", "restore", "restored"):
        action, *more = words.split()
        host.ask("owner", action, yard.data, "0a", *more)


def on_installations(host: Host, yard: Yard, roots: Path) -> None:
    """The link is pointed to another installation and back: the account's, and one in a folder of root's."""
    (roots / "current").symlink_to("kafka")
    for link in (yard.link, roots / "current"):
        for action in ("point", "away", "back"):
            host.ask("version", action, link, *yard.place, "3.9.1", yard.root / "kafka-3.9.1")


def on_tools(host: Host, yard: Yard, roots: Path) -> None:
    """Scripts that have Kafka's own tools do something: one installation is the account's, another is root's."""
    yard.tools(roots / "kafka")
    (roots / "client.properties").write_text("security.protocol=SSL\n")
    for home, config in ((yard.root / "kafka", yard.config), (roots / "kafka", roots / "client.properties")):
        for name in ("settings", "topic"):
            host.ask(name, "fits", home, config)
        host.ask("settings", "change", home, config, "b:1", "1", "", "", "a=b")
        host.ask("settings", "grant", home, config, "b:1", "topic", "x", "deny", "User:x", "read")
        host.ask("topic", "make", home, config, "b:1", "x", "0:1", "a=b")
        assert host.run("topic", "there", home, config, "b:1", "x", "2").returncode
        host.ask("certificate", "put", home, config, "b:1", "1", "0a", "ssl.keystore", stdin="key")
        host.ask("certificate", "lift", home, config, "b:1", "1", "0a", "ssl.keystore.location")
        host.ask("dump", "markers", home, yard.data, "orders-0", "pay-0")
        host.ask("dump", "batches", home, yard.data, "orders-0:0:9")


def on_the_network(host: Host) -> None:
    """Scripts that cut, shape, reset and give an address."""
    for flavour in ("nft", "iptables"):
        for action in ("install", "standing", "lasts", "remove", "gone"):
            host.ask("cut", action, "CHAOSK-0a", "chaosk:x", flavour, stdin=RULES)
        assert host.run("cut", "lasts", "CHAOSK-0a", "chaosk:x", flavour).returncode
    for action in ("fits", "put", "stands", "lasts", "lift", "gone"):
        host.ask("shape", action, "0123456789", "htb rate 1mbit limit 100000", stdin=RULES[RULES.index("4 O") :])
    assert "no connection" in host.run("reset", "end", stdin="any I -s @localhost -j DROP\n").stderr
    host.run("reset", "fits")
    for action in ("fits", "add", "there", "remove", "gone"):
        host.ask("address", action, "0a", "198.18.7.9")


def on_leases(host: Host) -> None:
    """A lease that is armed, renewed and healed, and what is done under it: a cut, which ends with it, and a load."""
    one = Lease(id="run-1.e", run="run-1", host="h", about="{}", undo="true\n", check="true\n", look="told 0 true\n")
    cut, uncut = (
        Command(host="h", argv=(*words("cut"), action, "CHAOSK-0b", "chaosk:x", "nft"), sudo=True, stdin=RULES)
        for action in ("install", "remove")
    )
    armed = lease.arm(one, 30)
    with host.leaving(*armed.argv, stdin=armed.stdin or ""):
        until(lambda: "armed" in host.ask("lease", "list"), 20)
        host.does(lease.under(one, cut))
        for kind, much in (("cpu", "1"), ("memory", "20000")):
            load = Command(host="h", argv=(*words("load"), "put", kind, "0a", much), sudo=True)
            with host.leaving(*lease.under(one, load).argv):
                until(lambda: host.run("load", "stands", kind, "0a", much).returncode == 0, 20)  # noqa: B023
                host.ask("load", "lift", kind, "0a")
            host.ask("load", "gone", kind, "0a")
        host.does(lease.renew(one, 30))
        host.does(lease.looks(one, 0))
        host.does(lease.undoing(one, uncut))
        host.does(lease.heal("h", one.id))
        host.does(lease.disarm("h", one.id))
    host.ask("load", "fits", "memory", "0a", "1000")
    for asked in ("take run-1 10 me", "keep run-1 10", "show"):
        host.ask("lock", *asked.split())
    host.does(lease.halt("h", "run-1"))
    host.ask("lock", "leave", "run-1")


def words(name: str) -> tuple[str, ...]:
    """What runs a script."""
    return ("sh", "-c", script(name), "chaosk")


def on_the_host(host: Host, yard: Yard) -> None:
    """What looks at a host, its supervisor, its power, and the gate."""
    host.ask("examine", "tool", "ip", "program", yard.start, "unit", "kafka", "space", yard.data, "filter", "iptables",
             "filter", "nft", "kernel", "htb", "kernel", "timeouts", "kernel", "statistic")  # fmt: skip
    switch = ("cat /run/switch", "echo off >/run/switch", "echo on >/run/switch")
    host.sh(switch[2])
    host.ask("power", "is-on", "127.0.0.1", "1", *switch)
    assert "no SSH server answers" in host.run("power", "revive", "127.0.0.1", "1", *switch, "0", "0").stderr
    host.sh(f"cat >{GATE} && chmod 755 {GATE}", sudo_gate.program(INVENTORY, GATE))
    assert host.program(GATE, sudo_gate.edition(), "192.0.2.1 1 192.0.2.2 22", "5", "lock", "show").returncode == 0
    host.sh("cat >/usr/local/sbin/systemctl && chmod 755 /usr/local/sbin/systemctl", SYSTEMCTL)
    for action in ("fits", "hold", "held", "release", "released"):
        host.ask("supervisor", action, "kafka", "run-1.e")


def test_nothing_else_is_opened(touches: list[Touch]) -> None:
    """Whatever a process of a script opens, makes, changes or runs is declared, and whose right it needs."""
    found = undeclared(touches, alone)
    assert not found, "\n".join(("", *found))


def test_every_script_is_traced_or_told_why_not(touches: list[Touch]) -> None:
    """What takes a kernel of its own is left out, and nothing else."""
    assert {touch.script for touch in touches} == SCRIPTS.keys() - UNTRACED.keys()


def test_every_entry_is_seen_or_told_why_not(touches: list[Touch]) -> None:
    """So the table has no line that is out of date."""
    seen = {entry for touch in set(touches) for entry in declared(touch, alone)}
    unseen = {entry for name in SCRIPTS for entry in entries(name)} - seen
    assert [entry.paths for entry in unseen if not entry.unseen] == []
