"""A lab of these tests' own, so that they can run beside the others."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from chaosk import lab
from chaosk.spec.lab_layout import LabLayout

LAB = "explore"
"""Name of the lab these tests put up."""


@pytest.fixture(scope="session")
def lab_inventory(while_folder_runs: ExitStack) -> Path:
    """The inventory of a lab with three brokers and three ZooKeeper nodes."""
    lines: list[str] = []
    while_folder_runs.callback(lab.down, LAB, lines.append, force=True)
    return lab.up(LabLayout(name=LAB), lines.append)
