"""Hosts that are virtual machines (User Mode Linux), each with its own kernel, clock, disk and power switch."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path

from typing_extensions import override

from chaosk.core.errors import LabError
from chaosk.lab import namespace, runner, ssh_files, vm_disks, vm_image, vm_plan, vm_registers, vm_seed
from chaosk.lab.host_plan import Machine
from chaosk.lab.kept_hosts import KeptHosts, read_pid
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile
from chaosk.lab.state import LabState

_PROGRAMS = (vm_plan.KERNEL, "debootstrap", "mkfs.ext4", "taskset")
_TUN = Path("/dev/net/tun")
_CONTROL = re.compile(r"\x1b(\[[0-9;?]*)?[a-zA-Z]|[\r\x00-\x08]")
"""Sequences that move a terminal's cursor or change its colours."""
_CONSOLE_LINES = 8


class VmHosts(KeptHosts):
    """The machines of one lab: processes under its keeper, each on a tap of the lab's bridge."""

    patience = 120.0
    grace = 15.0
    pause = 15.0

    def __init__(self, state: LabState) -> None:
        super().__init__(state)
        self._image = Path()

    @override
    def check(self) -> None:
        """Raise LabError also if a program, or the device for network taps, is missing."""
        namespace.check_free(self._state.namespace_file)
        needed = [*_PROGRAMS, vm_registers.COMPILER] if vm_registers.too_large() else _PROGRAMS
        runner.require(needed, "for --hosts vms do")
        if Path("/sbin/modprobe").exists() and not _TUN.exists():
            runner.attempt(["modprobe", "tun"])
        try:
            os.close(os.open(_TUN, os.O_RDWR))
        except OSError as error:
            why = error.strerror
            raise LabError(f"{_TUN}: {why}; virtual machines need it for their network: load the module tun") from None

    @override
    def prepare(self, jars: Path, tools: tuple[HostFile, ...], say: Callable[[str], object]) -> None:
        """Make the disk image; building it takes minutes, the first time."""
        self._image = vm_image.ensure(jars, tools, say)

    @override
    def create(self, seats: tuple[Seat, ...], files: dict[str, tuple[HostFile, ...]], machine: Machine) -> None:
        """Write the files of each machine, make the network, and start the keeper; raises LabError."""
        preload = vm_registers.library(self._state.directory) if vm_registers.too_large() else None
        for seat, processor in zip(seats, cycle(sorted(os.sched_getaffinity(0)))):
            at = runner.directory(self._state.host(seat.host), 0o700)
            runner.write(at / "address", seat.address)
            runner.write(at / vm_plan.POWER_ON, vm_plan.power_on(seat, at, self._image, processor, preload), 0o700)
            for disk in vm_disks.disks(seat):
                runner.run(vm_disks.make(disk, at))
            runner.write_bytes(at / "seed.tar", vm_seed.seed(seat, files[seat.host]), 0o600)
        self._establish(vm_plan.plan(self._state, seats, machine), machine)

    @override
    def wake(self, host: str, say: Callable[[str], object]) -> None:
        """Power-cycle a machine that has exceeded its boot time; its disk is kept."""
        note = self._state.host(host) / "pid"
        if time.time() - note.stat().st_mtime > self.patience:
            say(f"{host}: runs, but no SSH server answers; switching it off and on")
            self.switch_off(host)
            self.start(host)

    def switch_off(self, host: str) -> None:
        """Kill a machine as a power failure does: data that it had not written to disk are lost. Raises LabError."""
        pid = read_pid(self._state.host(host) / "pid")
        runner.run([*self._in_lab(), "kill", "-KILL", str(pid)])
        deadline = time.monotonic() + 10
        while self.runs(host):
            if time.monotonic() > deadline:
                raise LabError(f"{host}: its process {pid} does not end")
            time.sleep(0.02)

    @override
    def failure(self, host: str) -> str | None:
        """Return the end of an ended machine's console, or the keeper's last output; None while both live."""
        reason = super().failure(host)
        return reason if reason is None or not self.alive() else self.last_words(host)

    @override
    def last_words(self, host: str) -> str:
        """Return the last lines of the machine's console."""
        text = (self._state.host(host) / "log").read_text(encoding="utf-8", errors="replace")
        lines = [line for line in _CONTROL.sub("", text).splitlines() if line.strip()]
        return "\n".join(lines[-_CONSOLE_LINES:])

    @override
    def on_host(self, host: str, argv: Sequence[str], *, timeout: float = 60.0) -> str:
        """Run ``argv`` by SSH and sudo, the only way in, and return its output; raises LabError."""
        if not self.runs(host):
            raise LabError(f"{host} is not running; do: chaosk lab up")
        address = (self._state.host(host) / "address").read_text(encoding="ascii")
        network = ["nsenter", f"--net={self._state.namespace_file}"]
        options = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={timeout:.0f}"]
        line = shlex.join(["sudo", "-n", "--", *argv])
        ssh, *rest = ssh_files.client(self._state.directory, address)
        done = runner.attempt([*network, ssh, *options, *rest, line], timeout=timeout)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip() or "no output"
            raise LabError(f"{host}: {shlex.join(argv)}: exit status {done.returncode}: {said}")
        return done.stdout

    @override
    def read_log(self, host: str, path: str, lines: int) -> str:
        """Return the last lines of a file on the machine; raises LabError, with its console, if it is off."""
        if not self.runs(host):
            raise LabError(f"{host} is off, and its disk with it; its console ends with:\n{self.last_words(host)}")
        return self.on_host(host, ["tail", "-n", str(lines), path])
