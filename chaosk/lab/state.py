"""Where the lab keeps what it knows: names and places under one directory, and the locks on them.

::

    /var/lib/chaosk                    or $CHAOSK_STATE
    ├── kafka/VERSION/                 the jars, shared by all labs
    ├── images/                        the disk images of virtual machines, shared by all labs
    └── labs/
        ├── .NAME.lock                 held while one process changes the lab
        └── NAME/
            ├── inventory.yaml         what chaosk reads; written last, so it is there when the rest is
            ├── layout.json            what was asked for
            ├── client_key, known_hosts
            ├── ca.pem, ca_key, client_password    where clients come in by TLS and with a password
            ├── keeper.json .pid .log  the process everything else lives under
            ├── alive                  locked by the keeper as long as it lives
            ├── control                the keeper reads here which host to start
            └── hosts/HOST/            root/ (mount points), skeleton/, host.json, pid, log, exit;
                                       of a virtual machine disk.cow, NAME.disk, seed.tar, address, pid, exit,
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
"""How the network namespace of every lab begins."""


def state_root() -> Path:
    """The directory under which all labs keep their state."""
    return Path(os.environ.get("CHAOSK_STATE", "/var/lib/chaosk")).absolute()


@dataclass(frozen=True, slots=True)
class LabState:
    """The places of one lab."""

    root: Path
    name: str

    @property
    def directory(self) -> Path:
        """Everything of this lab, and nothing else."""
        return self.root / "labs" / self.name

    @property
    def namespace(self) -> str:
        """The network namespace the hosts' bridge is in."""
        return PREFIX + self.name

    @property
    def namespace_file(self) -> Path:
        """Where ``ip netns`` looks for it."""
        return Path("/run/netns") / self.namespace

    @property
    def names_file(self) -> Path:
        """What is /etc/hosts to processes in the lab's network, where its brokers have names; see ``ip netns``."""
        return NAMES / self.namespace / "hosts"

    @property
    def inventory(self) -> Path:
        """The inventory that chaosk reads."""
        return self.directory / "inventory.yaml"

    @property
    def layout(self) -> Path:
        """What the lab was asked to be."""
        return self.directory / "layout.json"

    @property
    def lock(self) -> Path:
        """Held by whoever changes the lab."""
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
        """The keeper's own ``json``, ``pid`` or ``log``."""
        return self.directory / f"keeper.{suffix}"

    @property
    def hosts(self) -> Path:
        """A directory for each host."""
        return self.directory / "hosts"

    def host(self, name: str) -> Path:
        """What belongs to one host."""
        return self.hosts / name


def of(name: str) -> LabState:
    """The places of the lab called ``name``."""
    return LabState(state_root(), name)


def names() -> list[str]:
    """The labs that have state here, sorted."""
    labs = state_root() / "labs"
    return sorted(at.name for at in labs.iterdir() if at.is_dir()) if labs.is_dir() else []


@contextmanager
def locked(path: Path, waiting: Callable[[], object], timeout: float = 300.0) -> Iterator[None]:
    """Hold ``path`` as a lock; ``waiting`` is called once if another process has it. The file is gone afterwards."""
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
    """Whether another process has a file as its lock."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(descriptor)
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Take the exclusive lock on an open file, if nobody has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _same(descriptor: int, path: Path) -> bool:
    """Whether the locked file is still the one of that name: its last holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
