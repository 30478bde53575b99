"""Which cluster heal and halt are about: what a run directory's plan says, and nothing else there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from analysis.history import History

from chaosk.cli._reach import cluster_of
from chaosk.core.errors import UsageError


def test_a_plan_that_is_no_plain_file_is_one_error(tmp_path: Path) -> None:
    """A FIFO is not waited for, a link not followed; who has to heal is told to name the inventory."""
    for make in (os.mkfifo, lambda at: at.symlink_to("/dev/zero")):
        make(tmp_path / "plan.json")
        with pytest.raises(UsageError, match=r"plan\.json: cannot be read: .*--inventory"):
            cluster_of(tmp_path, None)
        (tmp_path / "plan.json").unlink()


def test_nothing_else_keeps_anybody_from_healing(tmp_path: Path) -> None:
    """A FIFO among the events would keep the run from being judged, and not its cluster from being put right."""
    rundir = History().write(tmp_path / "run")
    plan = History().plan()
    os.mkfifo(rundir.events / "strange")
    assert cluster_of(rundir.root, None)[1] == plan["run_id"]
