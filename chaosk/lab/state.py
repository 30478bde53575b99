"""The lab's state: names and paths below one directory, and the locks on them.

::

    /var/lib/chaosk                    or $CHAOSK_STATE
    ├── kafka/VERSION/                 the jars, shared by all labs
    ├── images/                        the disk images of virtual machines, shared by all labs
    └── labs/
        ├── .NAME.lock                 locked while one process changes the lab
        └── NAME/
            ├── inventory.yaml         the inventory; written last, once the rest is complete
            ├── layout.json            the requested layout
            ├── client_key, known_hosts
            ├── ca.pem, ca_key, client_password    if clients use TLS and a password
            ├── keeper.json .pid .log  the parent process of everything else
            ├── alive                  locked by the keeper as long as it lives
            ├── control                the keeper reads from it which host to start
            └── hosts/HOST/            root/ (mount points), skeleton/, host.json, pid, log, exit;
                                       for a virtual machine disk.cow, NAME.disk, seed.tar, address, pid, exit,
                                       log (its console)
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chaosk.core.errors import LabError
from chaosk.lab import runner
from chaosk.lab.namespace import NAMES

PREFIX = "chaosk-"
"""The prefix of every lab's network namespace."""


def state_root() -> Path:
    """Return the directory below which all labs keep their state."""
    return Path(os.environ.get("CHAOSK_STATE", "/var/lib/chaosk")).absolute()


@dataclass(frozen=True, slots=True)
class LabState:
    """The paths of one lab."""

    root: Path
    name: str

    @property
    def directory(self) -> Path:
        """All files of this lab."""
        return self.root / "labs" / self.name

    @property
    def namespace(self) -> str:
        """The network namespace of the hosts' bridge."""
        return PREFIX + self.name

    @property
    def namespace_file(self) -> Path:
        """Its path for ``ip netns``."""
        return Path("/run/netns") / self.namespace

    @property
    def names_file(self) -> Path:
        """The /etc/hosts of processes in the lab's network, if its brokers have names; see ``ip netns``."""
        return NAMES / self.namespace / "hosts"

    @property
    def inventory(self) -> Path:
        """The inventory that chaosk reads."""
        return self.directory / "inventory.yaml"

    @property
    def layout(self) -> Path:
        """The layout of the lab."""
        return self.directory / "layout.json"

    @property
    def lock(self) -> Path:
        """Locked while a process changes the lab."""
        return self.root / "labs" / f".{self.name}.lock"

    @property
    def alive(self) -> Path:
        """The file that the keeper holds a lock on."""
        return self.directory / "alive"

    @property
    def control(self) -> Path:
        """The pipe that tells the keeper which host to start."""
        return self.directory / "control"

    def keeper(self, suffix: str) -> Path:
        """Return the path of the keeper's ``json``, ``pid`` or ``log``."""
        return self.directory / f"keeper.{suffix}"

    @property
    def hosts(self) -> Path:
        """The directory of all hosts."""
        return self.directory / "hosts"

    def host(self, name: str) -> Path:
        """Return the directory of one host."""
        return self.hosts / name


def of(name: str) -> LabState:
    """Return the paths of the lab ``name``."""
    return LabState(state_root(), name)


def names() -> list[str]:
    """Return the labs that have state here, sorted."""
    labs = state_root() / "labs"
    return sorted(at.name for at in labs.iterdir() if at.is_dir()) if labs.is_dir() else []


@contextmanager
def locked(path: Path, waiting: Callable[[], object], timeout: float = 300.0) -> Iterator[None]:
    """Hold a lock on ``path``; ``waiting`` is called once if another process has it. The file is removed afterwards.

    Raises LabError after ``timeout`` seconds.
    """
    runner.directory(path.parent)
    held = _take(path, waiting, time.monotonic() + timeout)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(held)


def _take(path: Path, waiting: Callable[[], object], deadline: float) -> int:
    told = False
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if try_lock(descriptor) and _same(descriptor, path):
            return descriptor
        os.close(descriptor)
        if not told:
            waiting()
            told = True
        if time.monotonic() > deadline:
            raise LabError(f"{path}: another chaosk has held this lock for too long; end it and try again")
        time.sleep(0.1)


def is_held(path: Path) -> bool:
    """Return whether another process has locked a file."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(descriptor)
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Take the exclusive lock on an open file; returns whether it was free."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _same(descriptor: int, path: Path) -> bool:
    """Return whether the locked file still has that name: its last holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
