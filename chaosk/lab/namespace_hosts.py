"""Hosts made of namespaces with separate roots: they start within seconds, and take megabytes each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from typing_extensions import override

from chaosk.core.errors import LabError
from chaosk.lab import host_plan, keeper_plan, namespace, preflight, runner
from chaosk.lab.host_plan import Machine
from chaosk.lab.kept_hosts import KeptHosts, as_json, read_pid
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile


class NamespaceHosts(KeptHosts):
    """The hosts of one lab: :mod:`chaosk.lab.init` executes the plans of :mod:`chaosk.lab.host_plan`."""

    patience = 30.0
    grace = 0.0
    pause = 3.0

    @override
    def check(self) -> None:
        """Raise LabError also if overlayfs or namespaces are missing, or if mounts would show outside a chroot."""
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
        """Check that mounts do not show outside a chroot, where their propagation cannot be set."""
        probe = runner.directory(self._state.directory / "probe")
        runner.run(["unshare", "--mount", "--propagation", "unchanged", "mount", "-t", "tmpfs", "tmpfs", str(probe)])
        if probe.is_mount():
            runner.run(["umount", str(probe)])
            raise LabError(
                "the lab's mounts would show outside this chroot; before entering it do: "
                "mount --bind DIR DIR && mount --make-private DIR"
            )

    @override
    def prepare(self, jars: Path, tools: tuple[HostFile, ...], say: Callable[[str], object]) -> None:
        """Do nothing: the shared archive is made on one of the hosts; see :mod:`chaosk.lab.archive`."""

    @override
    def create(self, seats: tuple[Seat, ...], files: dict[str, tuple[HostFile, ...]], machine: Machine) -> None:
        """Write the files of the hosts, make the network, and start the keeper; raises LabError."""
        for seat in seats:
            self._write_host(seat, files[seat.host], machine)
        self._establish(keeper_plan.plan(self._state, seats, machine), machine)

    def _write_host(self, seat: Seat, files: tuple[HostFile, ...], machine: Machine) -> None:
        at = self._state.host(seat.host)
        for file in files:
            path = at / "skeleton" / file.relative
            runner.directory(path.parent)
            runner.write(path, file.text, file.mode)
        runner.write(at / "host.json", as_json(host_plan.plan(seat, at, machine)))

    @override
    def wake(self, host: str, say: Callable[[str], object]) -> None:
        """Start the host's SSH server."""
        say(f"{host}: no SSH server answers; starting it")
        try:
            self.on_host(host, ["/usr/sbin/sshd", "-E", "/var/log/sshd.log"])
        except LabError as error:
            say(f"{host}: {error}")  # a cut may hide a running one; the time-out decides

    @override
    def on_host(self, host: str, argv: Sequence[str], *, timeout: float = 60.0) -> str:
        """Run ``argv`` in all of the host's namespaces and return its output; raises LabError."""
        pid = read_pid(self._state.host(host) / "pid")
        return runner.run(
            [*self._in_lab(), "nsenter", "--target", str(pid), "--all", "--root", "--wd", *argv], timeout=timeout
        )

    def fetch(self, host: str, path: str, to: Path) -> None:
        """Move a file of the host to ``to``, atomically for readers there; raises LabError."""
        beside = to.with_name(f".{to.name}.{self._state.name}")
        runner.run([*self._in_lab(), "cp", str(self._on_disk(host, path)), str(beside)])
        beside.replace(to)
        self.on_host(host, ["rm", path])

    def _on_disk(self, host: str, path: str) -> Path:
        """Return the keeper's path of a file that a host has written."""
        return self._state.host(host) / "disk" / "up" / path.lstrip("/")

    @override
    def read_log(self, host: str, path: str, lines: int) -> str:
        """Return the last lines of a file that the host has written, read from its disk; raises LabError."""
        return runner.run([*self._in_lab(), "tail", "-n", str(lines), str(self._on_disk(host, path))])
