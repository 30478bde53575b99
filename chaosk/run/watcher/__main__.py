"""The watcher's process: ``python -m chaosk.run.watcher SPEC.json``, or ``-`` for one that is assigned later."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

from pydantic import ValidationError

from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.endpoints import broker_places, zookeeper_places
from chaosk.core.errors import ChaoskError, UsageError
from chaosk.core.spare import assigned
from chaosk.run.watcher.sampling import About, BrokerSampler, QuorumSampler, Sampler, SettingsSampler, ZooKeeperSampler
from chaosk.run.watcher.spec import WatcherSpec
from chaosk.run.watcher.state import WatcherState, glance, with_quorum
from chaosk.rundir.events.heartbeat import heartbeats
from chaosk.rundir.events.live import LiveLog
from chaosk.rundir.events.writer_reports import WATCHER

TICK = 0.05
"""Seconds between two checks for due rows: half of what a SIGKILL may cost."""
STATE_PERIOD = 0.5
"""Seconds between two states on stdout."""
SOONER = 0.2
"""The same if a stop condition uses the states."""
CLOCK_PERIOD = 1.0
"""Seconds between two rows of ``clocks``."""
LAST_ANSWERS = 0.2
"""Seconds that samples in progress may take at the end."""


class Watcher:
    """Every sampler of one run, and the loop that writes their rows."""

    def __init__(self, spec: WatcherSpec, stop: threading.Event) -> None:
        """Create the samplers without connecting; raises PreflightError for unusable client settings."""
        brokers = broker_places(spec.inventory, client_settings(spec.inventory))
        about = About(spec.topics, others=spec.others, kraft=spec.inventory.kraft)
        self._stop = stop
        self._log = LiveLog(Path(spec.folder), spec.run_id)
        self._brokers = {
            number: BrokerSampler(number, place, about, self._log, stop) for number, place in brokers.items()
        }
        self._zookeepers = {
            node: ZooKeeperSampler(node, place, self._log, stop)
            for node, place in zookeeper_places(spec.inventory).items()
        }
        self._quorum = QuorumSampler(brokers.values(), self._log, stop) if about.kraft else None
        self._settings = SettingsSampler(brokers.values(), spec.topics, self._log, stop)
        self._topics = frozenset(spec.topics)
        self._period = SOONER if spec.others else STATE_PERIOD

    def watch(self) -> None:
        """Watch until told to stop; raises EventLogError if the events cannot be written."""
        samplers: list[Sampler] = [*self._brokers.values(), *self._zookeepers.values(), self._settings]
        samplers += [self._quorum] if self._quorum is not None else []
        for sampler in samplers:
            sampler.start()
        threading.Thread(target=self._tell, daemon=True).start()
        with heartbeats(self._log, WATCHER):
            self._tick()
        end = time.monotonic() + LAST_ANSWERS
        for sampler in samplers:
            sampler.join(max(0.0, end - time.monotonic()))
        self._log.close()

    def _tick(self) -> None:
        """Write the clocks, and flush due rows, until told to stop."""
        clock_due = 0.0
        while not self._stop.wait(TICK):
            if time.monotonic() >= clock_due:
                clock_due = time.monotonic() + CLOCK_PERIOD
                self._log.write("clocks", (time.monotonic_ns(), time.time_ns()))
            if self._log.due():
                self._log.flush()

    def state(self) -> WatcherState:
        """Return a summary of the cluster now."""
        views = [one.latest for one in self._brokers.values()]
        modes = {node: sampler.latest for node, sampler in self._zookeepers.items()}
        answered = [one for one in views if one is not None]
        seen = glance(time.monotonic_ns(), list(self._brokers), answered, modes, self._topics)
        return seen if self._quorum is None else with_quorum(seen, self._quorum.latest)

    def _tell(self) -> None:
        """Write states to stdout, in a separate thread: a parent that does not read blocks only this."""
        while not self._stop.wait(self._period):
            line = self.state().model_dump_json() + "\n"
            try:
                os.write(sys.stdout.fileno(), line.encode())
            except OSError:
                return


def _load(path: Path) -> WatcherSpec:
    try:
        return WatcherSpec.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: not a watcher's specification: {error.errors()[0]['msg']}") from error


def _end_with_stdin(stop: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    stop.set()


def main(arguments: list[str]) -> int:
    """Watch as the file in ``arguments`` describes; return the exit code."""
    spec = assigned(arguments[0]) if len(arguments) == 1 else None
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent: it heals first, then ends the watcher
    threading.Thread(target=_end_with_stdin, args=(stop,), daemon=True).start()
    try:
        if spec is None:
            raise UsageError("usage: python -m chaosk.run.watcher SPEC.json")
        Watcher(_load(spec), stop).watch()
    except ChaoskError as error:
        sys.stderr.write(f"watcher: {error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
