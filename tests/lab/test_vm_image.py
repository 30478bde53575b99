"""Building disk images: where Debian comes from, what is said when it cannot be done."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.core.errors import LabError
from chaosk.lab import vm_image

SOURCES = """Debian Debian-Security main http://security.example/debian-security/
Other Other main http://other.example/
Debian Debian contrib http://mirror.example/contrib/
Debian Debian main cdrom://disc/
Debian Debian main http://mirror.example/debian/
"""


def test_debian_comes_from_where_the_machine_has_it() -> None:
    """The first source of Debian itself that can be downloaded from; not its security updates, nor anybody else."""
    assert vm_image.mirror(SOURCES) == "http://mirror.example/debian/"
    assert vm_image.mirror("") == vm_image.mirror("Ubuntu Ubuntu main http://u.example/") != ""


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("I: Retrieving x\nE: Couldn't download packages: x\nI: more\n", "Couldn't download packages: x"),
        ("mkfs.ext4: No space left on device\n", "mkfs.ext4: No space left on device"),
        (" \n", "no output"),
    ],
)
def test_one_line_says_why(output: str, reason: str) -> None:
    """A build says hundreds of lines; the one with the error is told."""
    assert vm_image.explain(output) == reason


def test_a_disk_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said before anything is downloaded, with both figures and what to do."""
    vm_image.check_room(tmp_path)
    monkeypatch.setattr(vm_image, "ROOM", 2**62)
    with pytest.raises(LabError, match=r"takes 4611686018\.4 GB, \d+\.\d GB are free; .* set CHAOSK_STATE to"):
        vm_image.check_room(tmp_path)
