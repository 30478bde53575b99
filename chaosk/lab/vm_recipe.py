"""The build of the disk image of virtual machines: Debian's packages, Kafka, users, boot script. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from chaosk.lab import launchers, vm_disks, vm_plan, vm_seed
from chaosk.lab.host_plan import MARKER, Argv
from chaosk.lab.service import HostFile

SUITE = "bookworm"
PACKAGES = (
    "systemd-sysv", "dbus", "openssh-server", "iptables", "iproute2", "dmsetup", "e2fsprogs", "kmod", "sudo",
    "procps", "openjdk-17-jre-headless",
)  # fmt: skip
"""Packages of a machine in addition to Debian's minimal system."""
SIZE = "4G"
"""Size of each machine's disk; room is used only for written data."""

_JAVA = "/usr/lib/jvm/java-17-openjdk-amd64"
"""For amd64, the only architecture of Debian's Java with User Mode Linux."""
_NO_USE = (
    "getty.target", "systemd-logind.service", "systemd-update-utmp.service", "apt-daily.timer",
    "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "e2scrub_reap.service", "fstrim.timer",
    "systemd-pstore.service", "modprobe@configfs.service", "modprobe@dm_mod.service", "modprobe@drm.service",
    "modprobe@efi_pstore.service", "modprobe@fuse.service", "modprobe@loop.service", "sys-fs-fuse-connections.mount",
    "sys-kernel-config.mount", "sys-kernel-debug.mount", "sys-kernel-tracing.mount",
)  # fmt: skip
"""Units without use on a machine: it has no console logins, no upgrades and no such devices."""

_FILTERS = ("iptables", "ip6tables")

_BOOT = f"""#!/bin/sh
# Process 1 until systemd is: at the first boot it makes of the image this machine; then it plugs in the network.
PATH=/usr/sbin:/usr/bin
export PATH
mount -t proc proc /proc
[ -e {MARKER} ] || tar -xpf /dev/ubdb -C / {vm_disks.LIST[1:]} || exit
{vm_disks.PUT_UP}if [ ! -e {MARKER} ]; then
  tar -xpf /dev/ubdb -C / || exit
  for unit in /etc/systemd/system/*.service; do
    [ ! -f "$unit" ] || [ -L "$unit" ] || ln -sf "$unit" /etc/systemd/system/multi-user.target.wants/
  done
  touch {MARKER}
  sync
fi
ip link set lo up
ip link set vec0 name eth0
ip address add "$(cat {vm_seed.ADDRESS})" dev eth0
ip link set eth0 up
exec /lib/systemd/systemd
"""


def files(tools: Iterable[HostFile]) -> tuple[HostFile, ...]:
    """Return the files of the image that are in no package; ``tools`` are Kafka's."""
    return (HostFile(vm_plan.BOOT, _BOOT, 0o755), HostFile("/etc/machine-id", ""), *tools)


def debian(root: Path, mirror: str) -> Argv:
    """Return the command that installs Debian in the folder ``root``."""
    return ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(root), mirror]


def finish(root: Path, modules: Path, jars: tuple[Path, ...]) -> list[Argv]:
    """Return the commands that complete the image, with the kernel's ``modules`` and Kafka's ``jars``."""
    inside = ["chroot", str(root)]
    return [
        ["mkdir", "-p", *(f"{root}/{folder}" for folder in ("usr/lib/modules", "opt/kafka/libs", "var/log/journal"))],
        ["cp", "-a", str(modules), f"{root}/usr/lib/modules/"],
        ["cp", "--preserve=timestamps", *map(str, jars), f"{root}/opt/kafka/libs"],
        ["ln", "-s", _JAVA, f"{root}/opt/java"],
        # '*' and not '!': without PAM, sshd refuses locked accounts
        [*inside, "useradd", "--create-home", "--user-group", "--password", "*", "--shell", "/bin/bash", "ops"],
        [*inside, "useradd", "--system", "--user-group", "--home-dir", "/var/lib/kafka", "kafka"],
        # This kernel does not have the tables for iptables-nft
        *([*inside, "update-alternatives", "--quiet", "--set", tool, f"/usr/sbin/{tool}-legacy"] for tool in _FILTERS),
        [*inside, "systemctl", "mask", *_NO_USE],
        [*inside, "sh", "-c", "rm -rf /etc/ssh/ssh_host_* /var/cache/apt/archives/*.deb /var/lib/apt/lists/*"],
        ["rm", "-rf", *(f"{root}/usr/share/{name}" for name in ("doc", "man", "locale"))],
    ]


def classes(root: Path) -> list[Argv]:
    """Return the commands that add Kafka's class archive, in a separate network namespace."""
    make = f"ip link set lo up && exec {launchers.MAKE_ARCHIVE}"
    return [
        ["unshare", "--net", "chroot", str(root), "sh", "-c", make],
        ["mv", f"{root}{launchers.ARCHIVE}", f"{root}/opt/kafka/libs/{launchers.CLASSES}"],
    ]


def disk(root: Path, image: Path) -> Argv:
    """Return the command that makes a file system from the folder."""
    return ["mkfs.ext4", "-q", "-F", "-d", str(root), str(image), SIZE]


def digest(tools: Iterable[HostFile], jars: tuple[Path, ...], kernel: str) -> str:
    """Return a digest of an image's content: packages, files, jars, the version of the ``kernel``."""
    at = Path("/")
    commands = [debian(at, ""), *finish(at, at, ()), *classes(at), disk(at, at)]
    texts = [(file.path, file.text, file.mode) for file in files(tools)]
    content = json.dumps([commands, texts, [jar.name for jar in jars], kernel])
    return hashlib.sha256(content.encode()).hexdigest()[:12]
