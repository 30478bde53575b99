"""Additional disks of a virtual machine: one for each data directory of its broker. Pure.

Each has a device-mapper table of one ``linear`` line over the whole disk, as with LVM, made early at every boot. So
steps can replace the table.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import NamedTuple

from chaosk.lab.host_plan import Argv
from chaosk.lab.seating import Seat

SIZE = "2G"
"""Size of each disk; room is used only for written data."""
LIST = "/etc/lab-disks"
"""A file with a line for each disk: its name, its device, its mount point."""
_FIRST = "c"
"""The letter of the first one: ``ubda`` has the root, ``ubdb`` the seed."""

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
"""Commands of a machine at each boot; they need /proc, /dev, and the list."""


class VmDisk(NamedTuple):
    """One disk."""

    name: str
    """The name of its device-mapper device."""
    letter: str
    path: str
    """Its mount point."""

    def file(self, at: Path) -> Path:
        """Return the file of its content, in the folder of the machine."""
        return at / f"{self.name}.disk"


def disks(seat: Seat) -> tuple[VmDisk, ...]:
    """Return the disks of the machine on a seat: none without a broker."""
    paths = seat.data if seat.broker is not None else ()
    return tuple(
        VmDisk(f"data-{PurePosixPath(path).name}", chr(ord(_FIRST) + number), path) for number, path in enumerate(paths)
    )


def listed(seat: Seat) -> str:
    """Return the content of the list."""
    return "".join(f"{one.name} ubd{one.letter} {one.path}\n" for one in disks(seat))


def words(seat: Seat, at: Path) -> list[str]:
    """Return the kernel arguments for the machine's disks."""
    return [f"ubd{one.letter}={one.file(at)}" for one in disks(seat)]


def make(one: VmDisk, at: Path) -> Argv:
    """Return the command that makes an empty file system for it."""
    return ["mkfs.ext4", "-q", "-F", "-m", "0", str(one.file(at)), SIZE]
