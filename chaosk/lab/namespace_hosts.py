"""Hosts made of namespaces with a root of their own: seconds to start, megabytes each."""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from typing_extensions import override

from chaosk.errors import LabError
from chaosk.lab import host_plan, keeper_plan, namespace, preflight, runner
from chaosk.lab.host_plan import Machine
from chaosk.lab.kind import HostKind
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile
from chaosk.lab.state import LabState, try_lock


class NamespaceHosts(HostKind):
    """The hosts of one lab, under one keeper; see :mod:`chaosk.lab.init`."""

    def __init__(self, state: LabState) -> None:
        self._state = state

    @override
    def check(self) -> None:
        """Raise LabError if the kernel lacks overlayfs or namespaces, or if mounts would show outside a chroot.

        The same if the network's name is taken: later, ``lab down`` would take it for this lab's.
        """
        namespace.check_free(self._state.namespace_file)
        if "overlay" not in Path("/proc/filesystems").read_text(encoding="ascii"):
            loaded = runner.attempt(["modprobe", "overlay"]) if Path("/sbin/modprobe").exists() else None
            if loaded is None or loaded.returncode != 0:
                raise LabError("this kernel has no overlayfs, which the roots of lab hosts are made of")
        for kind in ("net", "mnt", "pid", "uts", "ipc", "cgroup"):
            if not Path(f"/proc/self/ns/{kind}").exists():
                raise LabError(f"this kernel has no {kind} namespaces, which lab hosts are made of")
        if preflight.in_chroot():
            self._check_chroot()

    def _check_chroot(self) -> None:
        """In a chroot, mounts cannot be kept to ourselves; see whether they stay with us all the same."""
        probe = runner.directory(self._state.directory / "probe")
        runner.run(["unshare", "--mount", "--propagation", "unchanged", "mount", "-t", "tmpfs", "tmpfs", str(probe)])
        if probe.is_mount():
            runner.run(["umount", str(probe)])
            raise LabError(
                "the lab's mounts would show outside this chroot; before entering it do: "
                "mount --bind DIR DIR && mount --make-private DIR"
            )

    @override
    def create(self, seats: tuple[Seat, ...], files: dict[str, tuple[HostFile, ...]], machine: Machine) -> None:
        """Write what the hosts need, make the network, and start the keeper; raises LabError."""
        for seat in seats:
            self._write_host(seat, files[seat.host], machine)
        runner.write(self._state.keeper("json"), _json(keeper_plan.plan(self._state, seats, machine)))
        os.mkfifo(self._state.control, 0o600)
        namespace.make(self._state.namespace_file)
        self._launch_keeper(machine)

    def _write_host(self, seat: Seat, files: tuple[HostFile, ...], machine: Machine) -> None:
        at = self._state.host(seat.host)
        for file in files:
            path = at / "skeleton" / file.relative
            runner.directory(path.parent)
            runner.write(path, file.text, file.mode)
        runner.write(at / "host.json", _json(host_plan.plan(seat, at, machine)))

    def _launch_keeper(self, machine: Machine) -> None:
        mark = os.open(self._state.alive, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if not try_lock(mark):
                raise LabError(
                    f"{self._state.name}: a keeper runs already; do: chaosk lab down --name {self._state.name}"
                )
            # The descriptor is the mark: whoever holds it belongs to this lab, and holding it keeps the lock.
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

    @override
    def alive(self) -> bool:
        """Whether the keeper lives: it holds a lock as long as it does."""
        try:
            mark = os.open(self._state.alive, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not try_lock(mark)
        finally:
            os.close(mark)

    @override
    def start(self, host: str) -> None:
        """Ask the keeper to start a host; raises LabError when there is no keeper."""
        (self._state.host(host) / "exit").unlink(missing_ok=True)
        try:
            pipe = os.open(self._state.control, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno not in {errno.ENXIO, errno.ENOENT}:
                raise
            raise LabError(f"{host}: cannot be started, the lab's keeper is gone; do: chaosk lab up") from None
        with os.fdopen(pipe, "wb") as control:
            control.write(f"{host}\n".encode())

    @override
    def runs(self, host: str) -> bool:
        """Whether the host's process 1 lives."""
        return self.alive() and (self._state.host(host) / "pid").exists()

    @override
    def failure(self, host: str) -> str | None:
        """The last words of a host that has ended, or of the keeper; None while both live."""
        if not self.alive():
            return f"the lab's keeper has ended: {self._last_words()}"
        at = self._state.host(host)
        if not (at / "exit").exists():
            return None
        return _last_line(at / "log")

    @override
    def on_host(self, host: str, argv: Sequence[str], *, timeout: float = 60.0) -> str:
        """Standard output of ``argv`` in all of the host's namespaces; raises LabError."""
        pid = _pid(self._state.host(host) / "pid")
        return runner.run(
            [*self._in_lab(), "nsenter", "--target", str(pid), "--all", "--root", "--wd", *argv], timeout=timeout
        )

    @override
    def fetch(self, host: str, path: str, to: Path) -> None:
        """Move a file that the host has written to ``to``, in one step as seen from there; raises LabError."""
        beside = to.with_name(f".{to.name}.{self._state.name}")
        runner.run([*self._in_lab(), "cp", str(self._on_disk(host, path)), str(beside)])
        beside.replace(to)
        self.on_host(host, ["rm", path])

    def _on_disk(self, host: str, path: str) -> Path:
        """Where the keeper sees what a host has written."""
        return self._state.host(host) / "disk" / "up" / path.lstrip("/")

    @override
    def read_log(self, host: str, path: str, lines: int) -> str:
        """The last lines of a file the host has written, read from its disk; raises LabError."""
        return runner.run([*self._in_lab(), "tail", "-n", str(lines), str(self._on_disk(host, path))])

    def _in_lab(self) -> list[str]:
        return [
            "nsenter",
            "--target",
            str(_pid(self._state.keeper("pid"))),
            "--mount",
            "--pid",
            "--net",
            "--root",
            "--wd",
        ]

    @override
    def destroy(self) -> None:
        """Kill the keeper, wait for the kernel to take the rest, and remove the network's name; raises LabError."""
        deadline = time.monotonic() + 30
        while self.alive():
            for pid in _holders(self._state.alive):
                _end(pid, deadline)
            if time.monotonic() > deadline:
                raise LabError(f"{self._state.name}: its processes do not end; see the holders of {self._state.alive}")
        namespace.remove(self._state.namespace_file)


def _json(value: object) -> str:
    return json.dumps(value, indent=1) + "\n"


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _pid(file: Path) -> int:
    try:
        return int(file.read_text(encoding="ascii"))
    except FileNotFoundError:
        raise LabError(f"{file.parent.name} is not running; do: chaosk lab up") from None


def _holders(file: Path) -> Iterator[int]:
    """The processes that have ``file`` open."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if any(link.readlink() == file for link in (process / "fd").iterdir()):
                yield int(process.name)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it has ended meanwhile, or is guarded and so none of ours


def _end(pid: int, deadline: float) -> None:
    """Kill a process and wait until nothing of it is left but perhaps a zombie: a namespace's process 1 goes last."""
    try:
        os.kill(pid, signal.SIGKILL)
        while Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z":
            if time.monotonic() > deadline:
                return
            time.sleep(0.005)
    except (ProcessLookupError, FileNotFoundError):
        return
