"""A kind of lab host, namespaces or virtual machines: all of them live under one keeper, and end with it."""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from chaosk.core.errors import LabError
from chaosk.lab import keeper_plan, namespace, runner
from chaosk.lab.host_plan import Machine
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile
from chaosk.lab.state import LabState, is_held, try_lock


class KeptHosts(ABC):
    """The hosts of one lab, under one keeper (:mod:`chaosk.lab.init`): makes and ends them, and is root on them."""

    patience: float
    """Time-out in seconds from a host's start until SSH answers."""
    grace: float
    """Seconds for services to start with their hosts, before they are started."""
    pause: float
    """Seconds between attempts to start a service."""

    def __init__(self, state: LabState) -> None:
        self._state = state

    @abstractmethod
    def check(self) -> None:
        """Raise LabError if this machine does not support such hosts, or if the network's name is taken.

        Otherwise ``lab down`` would remove that network later as this lab's.
        """

    @abstractmethod
    def prepare(self, jars: Path, tools: tuple[HostFile, ...], say: Callable[[str], object]) -> None:
        """Make what all labs with these ``jars`` share, unless it exists; ``tools`` are Kafka's. Raises LabError."""

    @abstractmethod
    def create(self, seats: tuple[Seat, ...], files: dict[str, tuple[HostFile, ...]], machine: Machine) -> None:
        """Make the network and the shared parts of hosts, using ``machine``; ``files`` by host name."""

    @abstractmethod
    def wake(self, host: str, say: Callable[[str], object]) -> None:
        """Recover a host that runs but does not answer over SSH; raises LabError."""

    @abstractmethod
    def on_host(self, host: str, argv: Sequence[str], *, timeout: float = 60.0) -> str:
        """Run ``argv`` on the host as root and return its output; raises LabError, also on a time-out in seconds."""

    @abstractmethod
    def read_log(self, host: str, path: str, lines: int) -> str:
        """Return the last lines of a file on the host, also while it is down if possible; raises LabError."""

    def last_words(self, host: str) -> str:  # noqa: ARG002 - of a machine, which has a console
        """Return the end of a silent host's console; empty if it has none."""
        return ""

    def _establish(self, plan: dict[str, object], machine: Machine) -> None:
        """Make the network, and start the keeper that executes ``plan``; raises LabError."""
        runner.write(self._state.keeper("json"), as_json(plan))
        os.mkfifo(self._state.control, 0o600)
        namespace.make(self._state.namespace_file)
        self._launch_keeper(machine)

    def _launch_keeper(self, machine: Machine) -> None:
        mark = os.open(self._state.alive, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if not try_lock(mark):
                raise LabError(
                    f"{self._state.name}: a keeper runs already; do: chaosk lab down --name {self._state.name}"
                )
            # The descriptor marks the lab's processes: all of them inherit it, and it keeps the lock.
            os.set_inheritable(mark, True)  # noqa: FBT003 - the only argument
            runner.detach(keeper_plan.start(self._state, machine), log=self._state.keeper("log"), keep=[mark])
        finally:
            os.close(mark)
        self._await_keeper()

    def _await_keeper(self) -> None:
        deadline = time.monotonic() + 20
        while not self._state.keeper("pid").exists():
            if not self.alive() or time.monotonic() > deadline:
                raise LabError(f"the lab's keeper did not start: {self._last_words()}")
            time.sleep(0.01)

    def _last_words(self) -> str:
        return _last_line(self._state.keeper("log"))

    def alive(self) -> bool:
        """Return whether the keeper lives: it holds a lock all its life."""
        return is_held(self._state.alive)

    def start(self, host: str) -> None:
        """Ask the keeper to start a host that does not run, before SSH answers; raises LabError without a keeper."""
        (self._state.host(host) / "exit").unlink(missing_ok=True)
        try:
            pipe = os.open(self._state.control, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno not in {errno.ENXIO, errno.ENOENT}:
                raise
            raise LabError(f"{host}: cannot be started, the lab's keeper is gone; do: chaosk lab up") from None
        with os.fdopen(pipe, "wb") as control:
            control.write(f"{host}\n".encode())

    def runs(self, host: str) -> bool:
        """Return whether the host's process 1 lives."""
        return self.alive() and (self._state.host(host) / "pid").exists()

    def failure(self, host: str) -> str | None:
        """Return the last output of a host that has ended, or of the keeper; None while both live."""
        if not self.alive():
            return f"the lab's keeper has ended: {self._last_words()}"
        at = self._state.host(host)
        if not (at / "exit").exists():
            return None
        return _last_line(at / "log")

    def _in_lab(self) -> list[str]:
        """Return the prefix of a command that runs in the keeper's namespaces."""
        keeper = str(read_pid(self._state.keeper("pid")))
        return ["nsenter", "--target", keeper, "--mount", "--pid", "--net", "--root", "--wd"]

    def destroy(self) -> None:
        """Kill the keeper, wait for the end of all processes, and remove the network's name; raises LabError."""
        deadline = time.monotonic() + 30
        while self.alive():
            _end(list(_holders(self._state.alive)), deadline)
            if time.monotonic() > deadline:
                raise LabError(f"{self._state.name}: its processes do not end; see the holders of {self._state.alive}")
        namespace.remove(self._state.namespace_file)


def as_json(value: object) -> str:
    """Format a value as JSON for a file, with indentation."""
    return json.dumps(value, indent=1) + "\n"


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "no output"


def read_pid(file: Path) -> int:
    """Return the process id in ``file``; raises LabError if there is no file."""
    try:
        return int(file.read_text(encoding="ascii"))
    except FileNotFoundError:
        raise LabError(f"{file.parent.name} is not running; do: chaosk lab up") from None


def _holders(file: Path) -> Iterator[int]:
    """Yield the processes that have ``file`` open."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if any(link.readlink() == file for link in (process / "fd").iterdir()):
                yield int(process.name)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it has ended meanwhile, or is protected and so not the lab's


def _end(pids: list[int], deadline: float) -> None:
    """Kill processes, and wait until only zombies of them are left.

    All are listed before the first is killed. A process that ends with another one closes its files some time before it
    releases its mounts and its children, so a later search could miss it. A namespace's process 1 ends last.
    """
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for pid in pids:
        while _lives(pid) and time.monotonic() < deadline:
            time.sleep(0.005)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
