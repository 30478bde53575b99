"""The run's own events: faults, phases and clocks, in a stream folder of their own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chaosk.run.clock import now
from chaosk.run.fault_progress import FaultProgress
from chaosk.rundir.decision import Decision
from chaosk.rundir.events.live import LiveLog


class Recorder:
    """Writes rows as they come and hands them to the operating system at once; there are few of them."""

    def __init__(self, folder: Path, run: str) -> None:
        """``run``: the run's id."""
        self._log = LiveLog(folder, run)
        self.durations: dict[str, float] = {}
        """Seconds by phase."""

    def write(self, table: str, row: tuple[Any, ...]) -> None:
        """Append one row and flush it; from any thread."""
        self._log.write(table, row)
        self._log.flush()

    def fault(self, life: FaultProgress) -> None:
        """Write the row of a fault that is over."""
        self.write("faults", life.row())

    def decision(self, decision: Decision) -> None:
        """Write a decision or note."""
        row = (decision.at, decision.wall, decision.who, decision.what, decision.entry, decision.text)
        self.write("decisions", row)

    def remaking(self, topic: str, gone: int, made: int) -> None:
        """Write that a topic was recreated."""
        self.write("remakings", (topic, gone, made))

    def clock(self) -> None:
        """Write one pair of monotonic and wall clock."""
        self.write("clocks", (time.monotonic_ns(), time.time_ns()))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Write the start and end of a phase; a phase that was cut short has no end."""
        began = now()
        ended: int | None = None
        try:
            yield
            ended = now()
        finally:
            self.durations[name] = round((now() - began) / 1e9, 3)
            self.write("phases", (name, began, ended))

    def close(self) -> None:
        """Close the streams."""
        self._log.close()
