"""The flusher: rows reach the operating system though the probe's own loop is held up."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from chaosk.core.errors import EventLogError
from chaosk.probes.worker.flusher import flushed
from chaosk.rundir.events.live import LiveLog, read_live


def test_rows_are_flushed_while_nobody_else_does(tmp_path: Path) -> None:
    """A tenth of a second after a row was written it can be read, with no flush by its writer."""
    with LiveLog(tmp_path / "w") as log, flushed(log):
        log.write("clocks", (1, 1))
        time.sleep(0.15)
        assert read_live(tmp_path / "w" / "clocks.arrows").table.num_rows == 1


def test_what_it_cannot_write_the_writer_hears(tmp_path: Path) -> None:
    """An error in the flusher's thread is raised by the next flush of the probe, not swallowed."""
    log = LiveLog(tmp_path / "w")
    with flushed(log):
        log.write("clocks", (1,))
        time.sleep(0.2)
        with pytest.raises(EventLogError, match="clocks: a row does not fit"):
            log.flush()


def test_it_ends_with_its_block(tmp_path: Path) -> None:
    """After the block nothing is flushed behind the writer's back."""
    with LiveLog(tmp_path / "w") as log:
        with flushed(log):
            pass
        log.write("clocks", (1, 1))
        time.sleep(0.2)
        assert log.due()
