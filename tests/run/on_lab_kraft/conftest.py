"""A lab in KRaft mode: three nodes of Kafka 4, each broker and controller, for these tests alone."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from chaosk import lab
from chaosk.spec.lab_layout import LabLayout

LAB = "run-kraft"
"""Name of the lab these tests put up."""


@pytest.fixture(scope="session")
def lab_inventory(while_folder_runs: ExitStack) -> Path:
    """The inventory of that lab, up for all tests of this folder."""
    lines: list[str] = []
    while_folder_runs.callback(lab.down, LAB, lines.append, force=True)
    return lab.up(LabLayout(name=LAB, kafka="4.2.0"), lines.append)
