"""The archive that tells a virtual machine who it is."""

from __future__ import annotations

import io
import tarfile

from chaosk.lab import ssh_files, vm_seed
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile

SEAT = Seat("node1", "198.18.0.11", 0, 1)
KEY = ssh_files.KeyPair("PRIVATE", "ssh-ed25519 AAAA")


def unpacked(seat: Seat = SEAT) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    """By path what the archive has."""
    files = (*ssh_files.files(seat, (seat,), KEY, KEY), HostFile("/var/lib/zookeeper/myid", "1\n"))
    with tarfile.open(fileobj=io.BytesIO(vm_seed.seed(seat, files))) as archive:
        found = {}
        for entry in archive.getmembers():
            content = archive.extractfile(entry)
            found[f"/{entry.name}"] = (entry, content.read() if content else b"")
        return found


def test_who_owns_what() -> None:
    """Keys are closed to others, services write to their folders, the rest is root's."""
    found = {path: (entry.uname, oct(entry.mode)) for path, (entry, _) in unpacked().items()}
    assert found["/etc/ssh/ssh_host_ed25519_key"] == ("root", "0o600")
    assert found["/etc/sudoers.d/ops"] == ("root", "0o440")
    assert found["/home/ops/.ssh"] == ("ops", "0o700")
    assert found["/home/ops/.ssh/authorized_keys"] == ("ops", "0o600")
    for path in ("/var/lib/kafka", "/var/log/kafka", "/var/lib/zookeeper", "/var/log/zookeeper"):
        assert found[path] == ("kafka", "0o755")
    assert found["/var/lib/zookeeper/myid"][0] == "kafka"


def test_who_it_is() -> None:
    """Its address, and an id that no other machine has: journals and leases are told apart by it."""
    first, second = unpacked(), unpacked()
    assert first["/etc/lab-address"][1] == b"198.18.0.11/24\n"
    assert len(first["/etc/machine-id"][1]) == 33
    assert first["/etc/machine-id"][1] != second["/etc/machine-id"][1]


def test_a_seat_without_services_has_no_folders_for_them() -> None:
    """An empty folder of a service would look like one that lost its data."""
    assert not [path for path in unpacked(Seat("node1", "198.18.0.11", 0, None)) if path == "/var/lib/zookeeper"]


def test_it_is_whole_blocks() -> None:
    """It is read from a block device."""
    assert len(vm_seed.seed(SEAT, ())) % 512 == 0
