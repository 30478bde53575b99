"""One virtual machine with a broker and a ZooKeeper node, for all tests of this folder that take it as they find it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from chaosk import lab as labs
from chaosk.document import load_inventory
from chaosk.lab import runner
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

LAB = "stepvms"
LAYOUT = LabLayout(name=LAB, brokers=1, zookeepers=1, hosts="vms")


@pytest.fixture(scope="session")
def place(while_folder_runs: ExitStack) -> Path:
    """The inventory of one machine with a broker and a ZooKeeper node, up for all of these tests."""
    if lacking := [program for program in ("linux.uml", "debootstrap", "mkfs.ext4") if runner.locate(program) is None]:
        packages = ", ".join(runner.PACKAGES[program] for program in lacking)
        pytest.skip(f"virtual machines need {packages}; ./dev test installs them on amd64")
    lines: list[str] = []
    while_folder_runs.callback(labs.down, LAB, lines.append, force=True)
    return labs.up(LAYOUT, lines.append)


@pytest.fixture
def inventory(place: Path) -> Inventory:
    """As chaosk reads it: with the machine's power switch."""
    found = load_inventory(place)
    assert isinstance(found, Inventory)
    return found
