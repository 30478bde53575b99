"""The session of a game day: the desk, the console, and the console's data sources."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Self

import click

from chaosk.run.environment import Environment
from chaosk.run.gameday.console import Console
from chaosk.run.gameday.groups import GroupWatch
from chaosk.run.gameday.latencies import Latencies
from chaosk.run.gameday.operator import Operator
from chaosk.run.gameday.terminal import Terminal
from chaosk.rundir.paths import RunDir

ANSWER_WITHIN = 300.0
"""Default time limit for an answer, in seconds."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a game day."""

    operator: str
    answer_within: float
    watch_groups: tuple[str, ...] = ()
    """Consumer groups to observe, in addition to those of the scenario's probes."""


class Session:
    """One game day, from before its run until after it."""

    def __init__(self, options: Options, scenario: str, stop: threading.Event) -> None:
        """``stop`` is set to have the run healed and stopped."""
        self._options = options
        self.desk = Operator(options.operator, options.answer_within, stop)
        self.console = Console(Terminal(), self.desk, scenario)

    def __enter__(self) -> Self:
        """Show the console."""
        self._before = {number: signal.signal(number, self._end) for number in (signal.SIGTERM, signal.SIGHUP)}
        self.console.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Restore the terminal, and print the run's messages on it."""
        self.console.close()
        for number, handler in self._before.items():
            gone = number == signal.SIGHUP and self.desk.lost  # as in _end: the exit code is still to come
            signal.signal(number, signal.SIG_IGN if gone else handler)
        for line in self.console.said:
            click.echo(line)

    def _end(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signature of a handler
        """Handle SIGTERM and SIGHUP while there is nothing to heal: raise KeyboardInterrupt, to restore the terminal.

        A SIGHUP is ignored if the operator is already known to be gone, and after the run, since its report is still
        written.
        """
        if number != signal.SIGHUP or not (self.desk.lost or self.desk.over):
            raise KeyboardInterrupt

    @contextmanager
    def watching(self, field: Environment, rundir: RunDir) -> Iterator[None]:
        """Observe latencies, the groups of the probes, and the requested groups, for the console."""
        watch = GroupWatch([*field.groups, *self._options.watch_groups], field.group)
        latencies = Latencies(rundir.live)
        self.console.groups, self.console.latencies = lambda: watch.watched, latencies.p99
        watch.start()
        try:
            yield
        finally:
            self.desk.close()
            watch.end()
            self.console.latencies = dict
