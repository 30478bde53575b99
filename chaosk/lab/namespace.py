"""Network namespaces: make one, remove one, run in one."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from chaosk.core.errors import LabError
from chaosk.lab import runner

T = TypeVar("T")

_CLONE_NEWNET = 0x40000000
_CLONE_NEWNS = 0x00020000
_MS_BIND, _MS_REC, _MS_SLAVE = 4096, 16384, 1 << 19
_MARK = "CHAOSK_ENTERED"
_SEE = 'mount --bind "$0" /etc/hosts && exec "$@"'
_APART = ("unshare", "--mount", "--propagation", "private")
_DIG = 'until rm -f "$0"; do umount "$0" || umount -l "$1" || exit 1; done'
"""Remove a file below a mount of its folder onto itself, which the first ``ip netns add`` makes. The file cannot be
reached without removing that mount, which other namespaces use. So this runs in a separate mount namespace. When the
file is removed, the kernel unmounts it everywhere."""
_SUDO_DROPS = ("PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH")
"""Variables that sudo replaces or removes even with a preserved environment."""
_DIRECTORY = Path("/run/netns")
NAMES = Path("/etc/netns")
"""Directory in which ``ip netns exec`` looks for a namespace's own files of /etc; chaosk uses only ``hosts``."""


def make(file: Path) -> None:
    """Make a network namespace with the name of ``file``, as ``ip netns`` would; raises LabError."""
    runner.directory(file.parent)
    check_free(file)
    file.touch(mode=0o444)
    # Not `ip netns add`: it mounts /run/netns on itself and leaves the mount behind.
    runner.run(["unshare", f"--net={file}", "true"])
    check(file)


def check_free(file: Path) -> None:
    """Raise LabError if a network namespace with the name of ``file`` exists.

    A plain file does not count: if /run survives a reboot, that is all that is left of a namespace.
    """
    if os.path.ismount(file):  # not Path.is_mount, which supports only folders
        raise LabError(
            f"the network namespace {file.name} exists and is not this lab's; do: ip netns delete {file.name}"
        )


def check(file: Path) -> None:
    """Raise LabError if the network namespace has a default route: a lab has no way out."""
    for family in ("-4", "-6"):
        # Not `ip -n`: it changes mounts first, which a chroot does not allow
        if routes := runner.run(["nsenter", f"--net={file}", "ip", family, "route", "show", "default"]).strip():
            raise LabError(f"{file.name} has a way out ({routes}); do: chaosk lab down, then look who made that route")


def remove(file: Path) -> None:
    """Remove the name; the namespace ends with its last process. Raises LabError."""
    if not file.exists():
        return
    while runner.attempt(["umount", str(file)]).returncode == 0:
        pass  # an interrupted start may have mounted it twice
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        runner.run([*_APART, "sh", "-c", _DIG, str(file), str(file.parent)])
    if file.parent == _DIRECTORY:
        with suppress(OSError):  # it has other names in it, or is mounted onto itself
            _DIRECTORY.rmdir()


def forget_names(file: Path) -> None:
    """Remove a namespace's own hosts file, and folders that are empty without it."""
    file.unlink(missing_ok=True)
    with suppress(OSError):
        file.parent.rmdir()
        NAMES.rmdir()


def is_inside(name: str) -> bool:
    """Return whether this thread is in the network namespace ``name``."""
    try:
        return os.path.samestat((_DIRECTORY / name).stat(), Path("/proc/thread-self/ns/net").stat())
    except FileNotFoundError:
        return False


def enter(name: str) -> None:
    """Move this process into the network namespace ``name``; raises LabError.

    If the namespace has its own names (:data:`NAMES`), they replace /etc/hosts for the process from then on.

    As root the calling thread moves (``setns``), and with it every thread and process that it starts later. So call it
    before threads are started. A re-execution would work as well, but would lose the state of the process. Without root
    the process has to re-execute itself under ``sudo -n``, as the same user.
    """
    if is_inside(name):
        return
    if not (_DIRECTORY / name).exists():
        raise LabError(f"there is no network namespace {name}; do: chaosk lab up")
    if os.geteuid() == 0:
        _setns(name)
    else:
        _start_again(name)


def inside(name: str, work: Callable[[], T]) -> T:
    """Run ``work`` in the namespace, in a separate thread, and return its result; the caller stays. Needs root."""

    def job() -> T:
        _setns(name)
        return work()

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"in-{name}") as pool:
        return pool.submit(job).result()


def _setns(name: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        descriptor = os.open(_DIRECTORY / name, os.O_RDONLY)
    except FileNotFoundError:
        raise LabError(f"there is no network namespace {name}; do: chaosk lab up") from None
    try:
        if libc.setns(descriptor, _CLONE_NEWNET) != 0:
            reason = os.strerror(ctypes.get_errno())
            raise LabError(f"cannot enter the network namespace {name}: {reason}")
    finally:
        os.close(descriptor)
    if (names := NAMES / name / "hosts").exists():
        _see(libc, names)


def _see(libc: ctypes.CDLL, names: Path) -> None:
    """Mount ``names`` over /etc/hosts for this thread, and for what it starts, alone."""
    done = libc.unshare(_CLONE_NEWNS)
    if done == 0 and Path("/").is_mount():  # not in a chroot; the lab has checked that mounts stay in there
        done = libc.mount(None, b"/", None, _MS_REC | _MS_SLAVE, None)
    if done == 0:
        done = libc.mount(bytes(names), b"/etc/hosts", None, _MS_BIND, None)
    if done != 0:
        raise LabError(f"{names} cannot be put over /etc/hosts: {os.strerror(ctypes.get_errno())}")


def _start_again(name: str) -> None:
    if os.environ.get(_MARK) == name:
        raise LabError(f"sudo did not bring this process into the network namespace {name}; run chaosk as root")
    if shutil.which("sudo") is None:
        raise LabError(f"only root can enter the network namespace {name}; run as root, or do: apt-get install sudo")
    if runner.attempt(["sudo", "-n", "true"]).returncode != 0:
        raise LabError(f"only root can enter the network namespace {name}, and sudo -n is refused; run as root")
    os.environ[_MARK] = name
    os.execvp("sudo", again(name, sys.orig_argv, os.environ))  # noqa: S606, S607 - sudo's place is the user's


def again(name: str, argv: list[str], environment: Mapping[str, str]) -> list[str]:
    """Return the command that runs ``argv`` in the namespace ``name``, with the present user and environment."""
    kept = [f"{variable}={environment[variable]}" for variable in _SUDO_DROPS if variable in environment]
    names = NAMES / name / "hosts"
    see = ["unshare", "--mount", "sh", "-c", _SEE, str(names)] if names.exists() else []
    return [
        *("sudo", "-n", "-E", "nsenter", f"--net={_DIRECTORY / name}", *see),
        *("setpriv", f"--reuid={os.getuid()}", f"--regid={os.getgid()}", "--init-groups"),
        *("env", *kept, sys.executable, *argv[1:]),
    ]
