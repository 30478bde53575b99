"""The commands by which process 1 of a host sets up its namespaces. Pure.

The root is an overlay: below it the machine's root, read-only; above it a tmpfs of fixed size, so that a disk can be
full. The host's root cannot use what namespaces do not separate: the clock, kernel modules, raw devices, sysctls.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from chaosk.lab import installations
from chaosk.lab.seating import Seat

Argv = list[str]

MARKER = "/var/lib/chaosk-host"
"""Exists on a host after its first start: its disk survives its processes."""

BRIDGE = "br0"
_PLACES = ("/opt/kafka/libs", "/opt/java", "/home", "/root", "/run", "/tmp", "/var/tmp", "/dev", "/proc", "/sys")  # noqa: S108
_LAB_NETWORK = "/proc/1/ns/net"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_WITHOUT = "-sys_time,-sys_module,-sys_rawio,-syslog,-mknod"


@dataclass(frozen=True, slots=True)
class Machine:
    """Parts of the machine that hosts share."""

    python: str
    """The interpreter that runs process 1."""
    init: str
    """The path of ``init.py``."""
    java_home: str
    installed: tuple[tuple[str, str], ...]
    """Versions of Kafka and the directories of their jars; the first one is used at first."""
    hidden: str
    """The directory of the labs' state, with keys in it: on hosts it is empty."""
    read_only: tuple[str, ...]
    """Files in /proc that act on the whole machine."""
    propagation: str = "slave"
    """Mount propagation between machine and lab; ``unchanged`` in a chroot, where it cannot be set."""
    separate: tuple[str, ...] = ()
    """System directories on separate file systems: an overlay over / does not include them."""
    users: tuple[str, ...] = ()
    """Those of the users ``ops`` and ``kafka`` that the machine has as well."""


def unshare(machine: Machine, plan: Path) -> Argv:
    """Return the command that becomes a host's process 1."""
    return [
        *("unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child"),
        *("--propagation", machine.propagation, "setpriv", f"--bounding-set={_WITHOUT}"),
        *(machine.python, "-I", "-S", machine.init, "host", str(plan)),
    ]


def disk(seat: Seat, at: Path, size: str) -> list[Argv]:
    """Return the commands that mount the disk of the host in ``at``, and one for each data directory of a broker."""
    where = str(at / "disk")
    return [
        ["mkdir", "-p", where],
        *_tmpfs(size, where),
        ["mkdir", f"{where}/up", f"{where}/work", f"{where}/root", f"{where}/home"],
        *(argv for own, _ in _disks(seat, at) for argv in (["mkdir", own], *_tmpfs(size, own))),
    ]


def _tmpfs(size: str, where: str) -> list[Argv]:
    return [["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", where]]


def _disks(seat: Seat, at: Path) -> list[tuple[str, str]]:
    """Return for each separate data disk its mount point for the keeper, and its mount point on the host."""
    several = seat.broker is not None and len(seat.data) > 1
    return [(f"{at}/disk/{PurePosixPath(path).name}", path) for path in seat.data] if several else []


def plan(seat: Seat, at: Path, machine: Machine) -> dict[str, str | list[Argv]]:
    """Return the input of ``init.py host``."""
    root = f"{at}/disk/root"
    return {
        "pid": str(at / "pid"),
        "marker": root + MARKER,
        "root": [_overlay(f"{at}/disk")],
        "populate": [
            ["rm", "-rf", f"{root}/opt/kafka"],
            ["cp", "-a", "--no-preserve=ownership", f"{at}/skeleton/.", root],
            *installations.commands(root, machine.installed),
            ["mkdir", "-p", *(root + path for path in (*_PLACES, machine.hidden))],
        ],
        "mount": [
            *_mounts(root, machine),
            *(
                argv
                for own, path in _disks(seat, at)
                for argv in (["mkdir", "-p", root + path], ["mount", "--bind", own, root + path])
            ),
            *_wire(seat),
        ],
        "new_root": root,
        "inside": _inside(machine),
        "first": _users(seat, machine),
        "boot": _boot(),
    }


def _overlay(disk_at: str) -> Argv:
    layers = f"lowerdir=/,upperdir={disk_at}/up,workdir={disk_at}/work"
    return ["mount", "-t", "overlay", "-o", layers, "overlay", f"{disk_at}/root"]


def _mounts(root: str, machine: Machine) -> list[Argv]:
    return [
        *(argv for path in machine.separate for argv in _read_only(path, root + path)),
        *(argv for jars, place in installations.libs(machine.installed) for argv in _read_only(jars, root + place)),
        *_read_only(machine.java_home, f"{root}/opt/java"),
        ["mount", "--bind", f"{root}/../home", f"{root}/home"],
        *(
            ["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", root + path]
            for path in ("/run", "/dev", "/root", machine.hidden)
        ),
        *(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", root + path] for path in ("/tmp", "/var/tmp")),  # noqa: S108
        *_devices(root),
        ["mount", "-t", "sysfs", "-o", "ro", "sysfs", f"{root}/sys"],
    ]


def _read_only(path: str, at: str) -> list[Argv]:
    return [["mount", "--bind", path, at], ["mount", "-o", "remount,bind,ro", at]]


def _devices(root: str) -> list[Argv]:
    at = f"{root}/dev"
    return [
        ["touch", *(f"{at}/{name}" for name in _DEVICES)],
        *(["mount", "--bind", f"/dev/{name}", f"{at}/{name}"] for name in _DEVICES),
        ["mkdir", f"{at}/pts", f"{at}/shm"],
        ["mount", "-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=620,gid=5", "devpts", f"{at}/pts"],
        ["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", f"{at}/shm"],
        ["ln", "-s", "pts/ptmx", f"{at}/ptmx"],
        ["ln", "-s", "/proc/self/fd", f"{at}/fd"],
        *(
            ["ln", "-s", f"/proc/self/fd/{number}", f"{at}/{name}"]
            for number, name in enumerate(("stdin", "stdout", "stderr"))
        ),
    ]


def _wire(seat: Seat) -> list[Argv]:
    """Return the commands that connect the host's eth0 to the bridge. Without a gateway, there is no way out."""
    return [
        ["ip", "link", "set", "lo", "up"],
        [
            *("ip", "link", "add", "eth0", "address", seat.mac),
            *("type", "veth", "peer", "name", seat.plug, "netns", _LAB_NETWORK),
        ],
        ["ip", "address", "add", f"{seat.address}/24", "dev", "eth0"],
        ["ip", "link", "set", "eth0", "up"],
        ["nsenter", f"--net={_LAB_NETWORK}", "ip", "link", "set", seat.plug, "master", BRIDGE, "up"],
    ]


def _inside(machine: Machine) -> list[Argv]:
    return [
        *(argv for path in machine.read_only for argv in _read_only(path, path)),
        ["mount", "--bind", "/proc/sys/net", "/proc/sys/net"],
        ["mount", "-o", "remount,bind,rw", "/proc/sys/net"],
        ["hostname", "-F", "/etc/hostname"],
    ]


def owned(seat: Seat) -> list[str]:
    """Return the folders that belong to the services on ``seat``."""
    services = {"zookeeper": seat.zookeeper, "kafka": seat.broker, "kafka-controller": seat.controller}
    folders = [f"/var/{at}/{name}" for name, number in services.items() if number is not None for at in ("lib", "log")]
    return [*folders, *(path for path in seat.data if seat.broker is not None and path not in folders)]


def _users(seat: Seat, machine: Machine) -> list[Argv]:
    folders = owned(seat)
    return [
        *(["userdel", "--force", user] for user in machine.users),
        # '*' and not '!': without PAM, sshd refuses locked accounts
        ["useradd", "--create-home", "--user-group", "--password", "*", "--shell", "/bin/bash", "ops"],
        [
            *("useradd", "--system", "--user-group", "--home-dir", "/var/lib/kafka"),
            *("--shell", "/usr/sbin/nologin", "kafka"),
        ],
        ["cp", "-rT", "/etc/ssh/ops", "/home/ops/.ssh"],
        ["chown", "-R", "ops:ops", "/home/ops"],
        ["chmod", "-R", "go=", "/home/ops/.ssh"],
        ["mkdir", "-p", *folders] if folders else ["true"],
        ["chown", "-R", "kafka:kafka", *folders] if folders else ["true"],
        ["touch", MARKER],
    ]


def _boot() -> list[Argv]:
    return [["mkdir", "-p", "/run/sshd", "/run/kafka", "/run/lock"], ["/usr/sbin/sshd", "-E", "/var/log/sshd.log"]]
