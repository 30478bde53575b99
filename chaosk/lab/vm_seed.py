"""The seed of a virtual machine: a tar archive on its second disk with its own files, read at its first boot."""

from __future__ import annotations

import io
import tarfile
import uuid
from collections.abc import Iterable

from chaosk.lab import host_plan, vm_disks
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile

ADDRESS = "/etc/lab-address"
"""The file with the machine's address and prefix length."""

_OWNERS = {"/home/ops/": "ops", "/var/lib/zookeeper": "kafka", "/var/lib/kafka": "kafka", "/var/log/zookeeper": "kafka",
           "/var/log/kafka": "kafka"}  # fmt: skip
_BLOCK = 512


def seed(seat: Seat, files: Iterable[HostFile]) -> bytes:
    """Return the archive for the machine on ``seat``, padded to whole disk blocks."""
    own = (
        HostFile(ADDRESS, f"{seat.address}/24\n"),
        HostFile(vm_disks.LIST, vm_disks.listed(seat)),
        HostFile("/etc/machine-id", f"{uuid.uuid4().hex}\n"),
    )
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for folder in ("/home/ops/.ssh", *host_plan.owned(seat)):
            archive.addfile(_entry(folder, tarfile.DIRTYPE, 0o700 if folder.endswith(".ssh") else 0o755))
        for file in (*own, *map(_at_home, files)):
            content = file.text.encode()
            entry = _entry(file.path, tarfile.REGTYPE, file.mode)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def _at_home(file: HostFile) -> HostFile:
    """Return the file, with the authorized key of ops moved to its home directory, closed to others."""
    if file.path != "/etc/ssh/ops/authorized_keys":
        return file
    return HostFile("/home/ops/.ssh/authorized_keys", file.text, 0o600)


def _entry(path: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path.lstrip("/"))
    owner = next((name for start, name in _OWNERS.items() if path.startswith(start)), "root")
    entry.type, entry.mode, entry.uname, entry.gname = kind, mode, owner, owner
    return entry
