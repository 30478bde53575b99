"""The lab's access to the machine: run programs, write files.

Programs are lists of words, without a shell. A program that is missing or fails raises
:class:`~chaosk.core.errors.LabError` with its output.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from chaosk.core.errors import LabError

PACKAGES: Mapping[str, str] = {
    "debootstrap": "debootstrap",
    "gcc": "gcc",
    "ip": "iproute2",
    "iptables": "iptables",
    "java": "openjdk-17-jre-headless",
    "linux.uml": "user-mode-linux",
    "mkfs.ext4": "e2fsprogs",
    "mount": "mount",
    "mvn": "maven",
    "nsenter": "util-linux",
    "pivot_root": "util-linux",
    "setpriv": "util-linux",
    "ssh": "openssh-client",
    "sshd": "openssh-server",
    "sudo": "sudo",
    "taskset": "util-linux",
    "umount": "mount",
    "unshare": "util-linux",
    "useradd": "passwd",
}
"""The Debian package of every program that the lab runs."""

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ENVIRONMENT = {"PATH": PATH, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
_UMASK = 0o022
"""Overrides the caller's umask: hosts have their own users, who have to read these files."""


def find(program: str) -> Path:
    """Return the path of ``program``, on the caller's path or the system's; raises LabError with its package."""
    found = locate(program)
    if found is None:
        raise missing(program)
    return found


def locate(program: str) -> Path | None:
    """Like :func:`find`, but returns None if it is not installed."""
    found = shutil.which(program) or shutil.which(program, path=PATH)
    return None if found is None else Path(found)


def require(programs: Sequence[str], remedy: str = "do") -> None:
    """Raise LabError with the packages of those ``programs`` that are not installed."""
    if lacking := [program for program in programs if locate(program) is None]:
        packages = " ".join(dict.fromkeys(PACKAGES[program] for program in lacking))
        raise LabError(f"{', '.join(lacking)}: not installed; {remedy}: apt-get install {packages}")


def missing(program: str) -> LabError:
    """Return the error for a program that is not installed, with its package."""
    return LabError(f"{program} is not installed; do: apt-get install {PACKAGES.get(program, program)}")


def run(argv: Sequence[str], *, stdin: str = "", timeout: float = 60.0, environment: Mapping[str, str] = {}) -> str:
    """Run ``argv`` and return its output; raises LabError if it is missing, fails, or exceeds ``timeout`` seconds."""
    done = attempt(argv, stdin=stdin, timeout=timeout, environment=environment)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip() or "no output"
        raise LabError(f"{' '.join(argv)}: exit status {done.returncode}: {said}")
    return done.stdout


def attempt(
    argv: Sequence[str], *, stdin: str = "", timeout: float = 60.0, environment: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    """Like :func:`run`, for programs whose exit status is an answer."""
    try:
        return subprocess.run(
            argv,
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            env=_ENVIRONMENT | dict(environment),
            check=False,
            cwd="/",
            umask=_UMASK,
        )
    except FileNotFoundError:
        raise missing(argv[0]) from None
    except subprocess.TimeoutExpired:
        raise LabError(f"{' '.join(argv)}: no end after {timeout:g} s") from None


def detach(argv: Sequence[str], *, log: Path, keep: Sequence[int]) -> None:
    """Start ``argv`` in a separate session, its output appended to ``log``; file descriptors ``keep`` stay open."""
    with log.open("ab") as output:
        try:
            # It outlives this process; the system's init reaps it.
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=_ENVIRONMENT,
                pass_fds=keep,
                start_new_session=True,
                cwd="/",
                umask=_UMASK,
            )
        except FileNotFoundError:
            raise missing(argv[0]) from None
    process.returncode = 0  # not waited for; keeps Popen's finaliser from warning


@contextmanager
def open_to_all() -> Iterator[None]:
    """Make new files readable by all, unless their mode says otherwise; for one thread at a time."""
    before = os.umask(_UMASK)
    try:
        yield
    finally:
        os.umask(before)


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """Write ``text`` to ``path`` atomically: readers see the old file or the new one, with ``mode`` from the start."""
    write_bytes(path, text.encode(), mode)


def write_bytes(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Like :func:`write`, for bytes."""
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.unlink(missing_ok=True)
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
        beside.replace(path)
    except OSError as error:
        raise _storage(path, error) from error


def directory(path: Path, mode: int = 0o755) -> Path:
    """Return ``path``, created with its parents if necessary."""
    try:
        path.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise _storage(path, error) from error
    return path


def _storage(path: Path, error: OSError) -> LabError:
    hint = {
        errno.ENOSPC: "the disk is full; free some space or set CHAOSK_STATE to a directory elsewhere",
        errno.EROFS: "the file system is read-only; set CHAOSK_STATE to a directory elsewhere",
        errno.EACCES: "no permission; run as root",
        errno.ENOTDIR: "a part of the path is a file; move it away",
    }.get(error.errno or 0, error.strerror or str(error))
    return LabError(f"{path}: cannot write: {hint}")
