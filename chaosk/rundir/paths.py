"""Names and layout of a run directory: plan first, events as they arrive, verdict last.

::

    reports/<scenario>/<utc>/
        plan.json            the resolved run: scenario, inventory (secrets by reference), seed, versions
        run.json             its outcome: entries, probes, healing, durations; written when the run is over
        log.jsonl            chaosk's log, one JSON object a line
        undo/                one file per armed undo, written before its fault
        live/<source>/<table>.arrows    event streams as they are written, one folder a writer (a probe's
                                        incarnation, the watcher, the run itself)
        events/<table>.parquet          the same events once the run is over
        cluster/{before,during,after}.json   the state of topics, brokers and ZooKeeper
        cluster/seen-<entry>.json            the same, recorded by an entry of the timeline
        evidence/<check>.jsonl          every row that a check found
        verdict.json  report.html  report.md  junit.xml
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from chaosk.core import files
from chaosk.core.errors import UsageError

SEEN = "seen-"
"""Prefix of the names of cluster states that a timeline entry recorded."""
FOLDERS = ("undo", "live", "events", "cluster", "evidence")
"""Subfolders of a run directory."""
_KINDS = {
    stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a FIFO", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}  # fmt: skip
LARGEST = 32 * 1024 * 1024
"""Maximum size in bytes of a document that is read whole; a verdict has some hundred kB."""


@dataclass(frozen=True, slots=True)
class RunDir:
    """The paths of one run; creates nothing."""

    root: Path

    @property
    def plan(self) -> Path:
        """The plan, JSON."""
        return self.root / "plan.json"

    @property
    def run(self) -> Path:
        """The record of how the run went, JSON."""
        return self.root / "run.json"

    @property
    def log(self) -> Path:
        """The run's log, one JSON object a line."""
        return self.root / "log.jsonl"

    @property
    def undo(self) -> Path:
        """Folder of armed undos."""
        return self.root / "undo"

    @property
    def live(self) -> Path:
        """Folder of live event streams, one subfolder a writer."""
        return self.root / "live"

    @property
    def events(self) -> Path:
        """Folder of Parquet files, one a table."""
        return self.root / "events"

    @property
    def cluster(self) -> Path:
        """Folder of cluster states."""
        return self.root / "cluster"

    def observed(self, entry: str) -> Path:
        """Return the path of the cluster's state at a timeline entry, JSON."""
        return self.cluster / f"{SEEN}{entry}.json"

    @property
    def evidence(self) -> Path:
        """Folder of evidence rows, one file a check."""
        return self.root / "evidence"

    @property
    def verdict(self) -> Path:
        """The verdict, JSON: the contract."""
        return self.root / "verdict.json"

    @property
    def html(self) -> Path:
        """The report for people."""
        return self.root / "report.html"

    @property
    def markdown(self) -> Path:
        """The report for a pull request."""
        return self.root / "report.md"

    @property
    def junit(self) -> Path:
        """The report for a CI server."""
        return self.root / "junit.xml"


def slug(name: str) -> str:
    """Return a scenario's name as a folder name: lower-case letters, digits and single hyphens, 64 at most."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:64].strip("-") or "run"


def create(output: Path, scenario: str, now: datetime | None = None) -> RunDir:
    """Create a new run directory of mode 0700 below ``output``; never reuses one, never follows a symbolic link there.

    Raises UsageError if it cannot be created.
    """
    stamp = (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H-%M-%S.%fZ")
    root = output / slug(scenario) / stamp
    try:
        output.mkdir(parents=True, exist_ok=True)
        files.folder(files.folder(output, slug(scenario), new=False), stamp, new=True)
        for name in FOLDERS:
            files.folder(root, name, new=True)
    except OSError as error:
        msg = f"{root}: cannot make the run directory: {error.strerror}; name another place with --output"
        raise UsageError(msg) from error
    return RunDir(root)


def existing(root: Path) -> RunDir:
    """Return the run directory at ``root``, which may itself be a link; raises UsageError if there is none.

    Also raises UsageError if anything in it is not a plain file or folder: a link may lead outside, and a FIFO or
    device may block the reader.
    """
    if not os.path.lexists(root / "plan.json"):
        msg = f"{root}: not a run directory (it has no plan.json); name one that `chaosk run` wrote"
        raise UsageError(msg)
    for path, what in _strange(root):
        raise UsageError(f"{path}: is {what}, and a run directory has plain files and folders alone: remove it")
    return RunDir(root)


def _strange(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each path that is neither a plain file nor a folder, and its kind; unreadable folders are skipped."""
    with suppress(PermissionError, FileNotFoundError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                yield from _strange(Path(entry.path))
            elif not stat.S_ISREG(mode):
                yield Path(entry.path), _KINDS.get(stat.S_IFMT(mode), "of a kind that is not read")


def document(path: Path) -> bytes:
    """Return the bytes of a document in a run directory from an untrusted source; raises OSError.

    Links are not followed. Other kinds than a plain file, and files larger than ``LARGEST``, are refused.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(error.errno, "Is a symbolic link, which is not followed", str(path)) from error
        raise
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            raise OSError(errno.EFBIG, f"Is no plain file of at most {LARGEST >> 20} MiB", str(path))
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(LARGEST)
    finally:
        os.close(descriptor)
