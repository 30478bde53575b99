"""The disks of a virtual machine beyond its first two: one for each data directory of its broker. Pure.

Each lies under device-mapper, as with LVM: a table of one ``linear`` line over the whole disk, put up at every boot
before anything else. So what steps do to a disk by another table can be done here.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import NamedTuple

from chaosk.lab.host_plan import Argv
from chaosk.lab.seating import Seat

SIZE = "2G"
"""Of each; only what is written takes room."""
LIST = "/etc/lab-disks"
"""Holds a line for each disk: its name, its device, where it is mounted."""
_FIRST = "c"
"""``ubda`` has the root, ``ubdb`` the seed."""

PUT_UP = f"""\
modprobe dm-mod
while read -r name device place; do
  table="0 $(blockdev --getsz "/dev/$device") linear /dev/$device 0"
  DM_DISABLE_UDEV=1 dmsetup create "$name" --table "$table" || exit
  e2fsck -p "/dev/mapper/$name"
  mkdir -p "$place"
  mount -t ext4 -o errors=remount-ro "/dev/mapper/$name" "$place" || exit
  rmdir "$place/lost+found" 2>/dev/null # Kafka takes every folder there for a partition
done <{LIST}
"""
"""What a machine does at each boot; it needs /proc, /dev, and the list."""


class Disk(NamedTuple):
    """One disk."""

    name: str
    """Of the device-mapper's device."""
    letter: str
    path: str
    """Where it is mounted."""

    def file(self, at: Path) -> Path:
        """Where its content lies, in the folder of the machine."""
        return at / f"{self.name}.disk"


def disks(seat: Seat) -> tuple[Disk, ...]:
    """Those of the machine on a seat: none without a broker."""
    paths = seat.data if seat.broker is not None else ()
    return tuple(
        Disk(f"data-{PurePosixPath(path).name}", chr(ord(_FIRST) + number), path) for number, path in enumerate(paths)
    )


def listed(seat: Seat) -> str:
    """The content of the list."""
    return "".join(f"{one.name} ubd{one.letter} {one.path}\n" for one in disks(seat))


def words(seat: Seat, at: Path) -> list[str]:
    """What the kernel of the machine is told of them."""
    return [f"ubd{one.letter}={one.file(at)}" for one in disks(seat)]


def make(one: Disk, at: Path) -> Argv:
    """The command that makes an empty file system for it."""
    return ["mkfs.ext4", "-q", "-F", "-m", "0", str(one.file(at)), SIZE]
