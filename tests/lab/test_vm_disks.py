"""The disks of a virtual machine for its broker's data; on_lab_vms and steps/on_lab_vms have what becomes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.lab import vm_disks
from chaosk.lab.seating import Seat

ONE = Seat("node1", "198.18.0.11", 0, 1)
TWO = Seat("node1", "198.18.0.11", 0, 1, data=("/var/lib/kafka/disk1", "/var/lib/kafka/disk2"))
AT = Path("/state/labs/x/hosts/node1")


@pytest.mark.parametrize(
    ("seat", "listed", "words"),
    [
        (ONE, "data-kafka ubdc /var/lib/kafka\n", [f"ubdc={AT}/data-kafka.disk"]),
        (
            TWO,
            "data-disk1 ubdc /var/lib/kafka/disk1\ndata-disk2 ubdd /var/lib/kafka/disk2\n",
            [f"ubdc={AT}/data-disk1.disk", f"ubdd={AT}/data-disk2.disk"],
        ),
        (Seat("node1", "198.18.0.11", None, 1), "", []),
    ],
    ids=["one directory", "several", "no broker"],
)
def test_a_disk_for_each_directory(seat: Seat, listed: str, words: list[str]) -> None:
    """What the machine reads in its list and what its kernel is told are the same disks, in that order."""
    assert vm_disks.listed(seat) == listed
    assert vm_disks.words(seat, AT) == words
    assert [argv[-2:] for argv in (vm_disks.make(one, AT) for one in vm_disks.disks(seat))] == [
        [word.partition("=")[2], vm_disks.SIZE] for word in words
    ]
