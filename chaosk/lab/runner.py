"""The one place where the lab acts on the machine: runs programs, writes files, reads what is there.

Programs are lists of words; no shell reads them. A program that is missing or fails becomes one
:class:`~chaosk.core.errors.LabError` with its own words in it.
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
"""The Debian package of every program the lab runs."""

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ENVIRONMENT = {"PATH": PATH, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
_UMASK = 0o022
"""Whatever the caller's: hosts have users of their own, who read what is made for them."""


def find(program: str) -> Path:
    """Where ``program`` is, on the caller's path or the system's; raises LabError with the package that brings it."""
    found = locate(program)
    if found is None:
        raise missing(program)
    return found


def locate(program: str) -> Path | None:
    """Like :func:`find`, where a lack is an answer."""
    found = shutil.which(program) or shutil.which(program, path=PATH)
    return None if found is None else Path(found)


def missing(program: str) -> LabError:
    """The error for a program that is not installed, with the package that brings it."""
    return LabError(f"{program} is not installed; do: apt-get install {PACKAGES.get(program, program)}")


def run(argv: Sequence[str], *, stdin: str = "", timeout: float = 60.0, environment: Mapping[str, str] = {}) -> str:
    """The standard output of ``argv``; raises LabError when it is missing, fails, or takes over ``timeout`` seconds."""
    done = attempt(argv, stdin=stdin, timeout=timeout, environment=environment)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip() or "it said nothing"
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
    """Start ``argv`` in a session of its own, its output appended to ``log``; file descriptors ``keep`` stay open."""
    with log.open("ab") as output:
        try:
            # It outlives this process; waiting for it is the work of init.
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
    process.returncode = 0  # not ours to wait for: keeps Popen's finaliser from warning


@contextmanager
def open_to_all() -> Iterator[None]:
    """What is made meanwhile can be read by all, where its mode does not say otherwise; for one thread at a time."""
    before = os.umask(_UMASK)
    try:
        yield
    finally:
        os.umask(before)


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """Put ``text`` into ``path`` in one move: readers see the old file or the new one, with ``mode`` from the start."""
    write_bytes(path, text.encode(), mode)


def write_bytes(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Like :func:`write`."""
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
    """``path``, made with its parents if need be."""
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
