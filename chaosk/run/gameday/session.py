"""What a run needs to be a game day: the desk, the console, and what watches for the console alone."""

from __future__ import annotations

import getpass
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Self

import click

from chaosk.run.field import Field
from chaosk.run.gameday.console import Console
from chaosk.run.gameday.desk import Desk
from chaosk.run.gameday.groups import GroupWatch
from chaosk.run.gameday.latencies import Latencies
from chaosk.run.gameday.terminal import Terminal
from chaosk.rundir.paths import RunDir

ANSWER_WITHIN = 300.0
"""Seconds for an answer, unless the command line says otherwise."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a game day is to be held."""

    operator: str
    answer_within: float
    watch_groups: tuple[str, ...] = ()
    """Consumer groups to look at, besides those of the scenario's probes."""


class Session:
    """One game day, from before its run until after it."""

    def __init__(self, options: Options, scenario: str, stop: threading.Event) -> None:
        """``stop`` is set to have the run healed and stopped."""
        self._options = options
        self.desk = Desk(options.operator, options.answer_within, stop)
        self.console = Console(Terminal(), self.desk, scenario)

    def __enter__(self) -> Self:
        """Show the console."""
        self._before = {number: signal.signal(number, self._end) for number in (signal.SIGTERM, signal.SIGHUP)}
        self.console.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Put the terminal back, and leave on it what the run said."""
        self.console.close()
        for number, handler in self._before.items():
            gone = number == signal.SIGHUP and self.desk.lost  # as in _end: the exit code is still to come
            signal.signal(number, signal.SIG_IGN if gone else handler)
        for line in self.console.said:
            click.echo(line)

    def _end(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signature of a handler
        """Where there is nothing to heal: end as Ctrl-C does, so that the terminal is put back.

        But not for an operator who is gone: once the run is over its report is made all the same, and who is known to
        be gone may be said to be so once more.
        """
        if number != signal.SIGHUP or not (self.desk.lost or self.desk.over):
            raise KeyboardInterrupt

    @contextmanager
    def watching(self, field: Field, rundir: RunDir) -> Iterator[None]:
        """Look at latencies and at the groups of the probes, and those asked for, for the console."""
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


def login_name() -> str:
    """Who is logged in, as far as this machine knows."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such user, as in a container
        return str(os.getuid())
