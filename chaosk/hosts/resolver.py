"""Name resolution for probes: per-run copies of /etc/hosts and related files, visible to the probes alone.

``python -m chaosk.hosts.resolver FOLDER COMMAND...`` runs a command with the files of a folder in place of those in
/etc. They are mounted in a separate mount namespace that ends with the command, so the machine is never changed.
Without root a user namespace is needed as well. A process with threads cannot create one, so this is a separate program
with few imports.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from chaosk.core.errors import PreflightError

FILES = ("hosts", "nsswitch.conf", "resolv.conf")
NOBODY = "127.67.65.79"
"""A loopback address without a name server."""

_ETC = Path("/etc")
_BEFORE = "before"
_LOCAL = "127.0.0.1 localhost\n::1 localhost\n"
_SERVICES = re.compile(r"^hosts:.*$", re.MULTILINE)
_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_BIND, _MS_REC, _MS_SLAVE = 4096, 16384, 1 << 19
_QUICK = {"RES_OPTIONS": "timeout:1 attempts:1"}
_LOOK_UP = """\
import socket, sys
from concurrent.futures import ThreadPoolExecutor
def found(name):
    try:
        return [at[4][0] for at in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]
    except OSError:
        return []
with ThreadPoolExecutor(16) as pool:
    for every in pool.map(found, sys.argv[1:]):
        print(*every)
"""


def lay_out(folder: Path) -> None:
    """Copy this machine's resolver files into ``folder``; raises PreflightError if probes cannot use copies."""
    if Path("/var/run/nscd/socket").exists():
        raise PreflightError(
            "nscd resolves names on this machine and ignores the probes' copies of its files; stop nscd"
        )
    for name in FILES:
        (folder / _BEFORE).mkdir(parents=True, exist_ok=True)
        try:
            text = (_ETC / name).read_text("utf-8", "surrogateescape")
        except OSError as error:
            raise PreflightError(f"{_ETC / name} cannot be read, so probes cannot have another: {error}") from error
        for at in (folder, folder / _BEFORE):
            (at / name).write_text(text, "utf-8", "surrogateescape")
    done = _seen(folder, ["true"])
    if done.returncode != 0:
        raise PreflightError(
            f"probes cannot have names of their own here: {done.stderr.strip()}; run chaosk as root, or allow users to "
            "make namespaces (sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
        )


def refuse(folder: Path) -> None:
    """Make every lookup fail at once: no name exists."""
    _write(folder, "files")


def silence(folder: Path) -> None:
    """Make every lookup time out: names are asked of :data:`NOBODY`, where a socket has to be bound and stay silent."""
    _write(folder, "files dns")


def restore(folder: Path) -> None:
    """Restore the original names."""
    for name in FILES:
        _put(folder / name, (folder / _BEFORE / name).read_text("utf-8", "surrogateescape"))


def move(folder: Path, names: Iterable[str], to: str) -> None:
    """Make ``names`` resolve to the address ``to`` alone; all other names resolve as before."""
    moved = {name.lower() for name in names}
    before = {name: (folder / _BEFORE / name).read_text("utf-8", "surrogateescape") for name in FILES}
    kept = "".join(_without(line, moved) for line in before["hosts"].splitlines())
    found = _SERVICES.search(before["nsswitch.conf"])
    services = found[0].removeprefix("hosts:").strip() if found else "dns"
    _put(folder / "nsswitch.conf", _SERVICES.sub("", before["nsswitch.conf"]) + f"\nhosts: files {services}\n")
    _put(folder / "resolv.conf", before["resolv.conf"])
    _put(folder / "hosts", kept + "".join(f"{to} {name}\n" for name in sorted(moved)))


def addresses(folder: Path | None, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Map each name to its addresses as seen in ``folder`` (None: by this process), without duplicates.

    A lookup that gets no answer within a second counts as no address.
    """
    every = tuple(names)
    words = [sys.executable, "-I", "-S", "-c", _LOOK_UP, *every]
    done = _seen(folder, words) if folder else _run(words)
    lines = done.stdout.splitlines() if done.returncode == 0 else [""] * len(every)
    return {name: tuple(dict.fromkeys(line.split())) for name, line in zip(every, lines, strict=True)}


def unknown(folder: Path | None, names: Iterable[str]) -> tuple[str, ...]:
    """Return the ``names`` that do not resolve in ``folder`` (None: in this process)."""
    return tuple(name for name, found in addresses(folder, names).items() if not found)


def seeing(folder: Path, command: Sequence[str]) -> list[str]:
    """Return the words that run ``command`` with the files of ``folder``."""
    return [sys.executable, "-m", "chaosk.hosts.resolver", str(folder), *command]


def _without(line: str, names: set[str]) -> str:
    """Return a line of a hosts file without some names; empty if no name is left."""
    words = line.partition("#")[0].split()
    kept = [word for word in words[1:] if word.lower() not in names]
    if len(kept) == len(words[1:]):
        return f"{line}\n"
    return " ".join((words[0], *kept)) + "\n" if kept else ""


def _write(folder: Path, services: str) -> None:
    switch = (folder / _BEFORE / "nsswitch.conf").read_text("utf-8", "surrogateescape")
    _put(folder / "nsswitch.conf", _SERVICES.sub("", switch) + f"\nhosts: {services}\n")
    _put(folder / "resolv.conf", f"nameserver {NOBODY}\n")
    _put(folder / "hosts", _LOCAL)


def _put(path: Path, text: str) -> None:
    """Write in place: the mount is of the file, not of its name."""
    with path.open("r+", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        file.truncate()


def _seen(folder: Path, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return _run(seeing(folder, command))


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=os.environ | _QUICK, capture_output=True, text=True, timeout=60, check=False)


def _enter(folder: Path) -> None:
    """Mount the files of ``folder`` over those in /etc, for this process alone; raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    _call(libc.unshare(_CLONE_NEWNS | (0 if user == 0 else _CLONE_NEWUSER)), "a namespace")
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny", "ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", "ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", "ascii")
    if Path("/").is_mount():
        _call(libc.mount(None, b"/", None, _MS_REC | _MS_SLAVE, None), "/")
    for name in FILES:
        at = (_ETC / name).resolve()
        _call(libc.mount(bytes(folder / name), bytes(at), None, _MS_BIND, None), f"{folder / name} over {at}")


def _call(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def main(arguments: list[str]) -> None:
    """Replace this process with the command, or exit with the reason for failure."""
    try:
        _enter(Path(arguments[0]))
        os.execvp(arguments[1], arguments[1:])  # noqa: S606 - words, no shell
    except OSError as error:
        sys.exit(f"{error.filename or arguments[1]}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
