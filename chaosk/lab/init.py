"""Process 1 of a lab and of each of its hosts: runs a list of commands, then reaps orphans until it is killed.

It runs as a script (``python -I -S init.py keeper|host FILE``) with only the standard library, since a host has its own
root. The commands come from :mod:`chaosk.lab.keeper_plan` and :mod:`chaosk.lab.host_plan`.

The keeper is process 1 of a PID namespace that contains every host. When it dies, the kernel kills all of them. The
mounts, links and the bridge end with the last process. So ``lab down`` leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn


@dataclass
class Keeper:
    """Starts hosts on request and records their end."""

    directory: Path
    """The lab's ``hosts`` directory."""
    start: dict[str, list[str]]
    """The command for process 1 of each host."""
    disk: dict[str, list[list[str]]]
    """The commands that mount the disk of each host; a disk survives the host's processes."""
    running: dict[int, str] = field(default_factory=dict)

    def launch(self, host: str) -> None:
        """Start ``host`` unless it runs."""
        if host in self.running.values():
            return
        if not os.path.ismount(self.directory / host / "disk"):
            carry_out(self.disk[host])
        with (self.directory / host / "log").open("ab") as log:
            process = subprocess.Popen(self.start[host], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        process.returncode = 0  # bury() reaps it
        self.running[process.pid] = host

    def bury(self) -> None:
        """Reap all processes that have ended; record the exit status of a host."""
        for pid, status in reap():
            host = self.running.pop(pid, None)
            if host is not None:
                (self.directory / host / "exit").write_text(f"{os.waitstatus_to_exitcode(status)}\n", encoding="utf-8")
                (self.directory / host / "pid").unlink(missing_ok=True)  # last: a gone host has an exit status


def carry_out(commands: list[list[str]]) -> None:
    """Run each command; exit with the output of the first that fails."""
    for argv in commands:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = " ".join((done.stderr or done.stdout).split())
            sys.exit(f"{' '.join(argv)}: exit status {done.returncode}: {said}")


def change_root(root: str) -> None:
    """Make the directory ``root``, a mount, the root of this namespace, and detach the old one.

    In a chroot whose root is no mount the kernel refuses that. Then ``root`` becomes the root of this process and its
    children only, which suffices as long as no process on the host tries to escape.
    """
    old = Path(root, "run/old")
    old.mkdir()
    pivot = ["pivot_root", root, str(old)]
    pivoted = subprocess.run(pivot, stderr=subprocess.DEVNULL, check=False).returncode == 0
    if not pivoted:
        os.chroot(root)
    os.chdir("/")
    carry_out([["mount", "-t", "proc", "proc", "/proc"]])
    if pivoted:
        carry_out([["umount", "-l", "/run/old"]])
    Path("/run/old").rmdir()


def reap() -> list[tuple[int, int]]:
    """Return ``(pid, status)`` of every child that has ended."""
    ended: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, status))


def note_pid(path: Path) -> None:
    """Write this process's id as seen in the outer PID namespace, whose proc file system is mounted now."""
    written = path.with_name(f"{path.name}.new")
    written.write_text(f"{Path('/proc/self').readlink()}\n", encoding="utf-8")
    written.rename(path)  # atomic: a reader sees a complete number


def namespace_files() -> list[str]:
    """Return the mount points of namespaces: a copy of such a mount here would keep that namespace alive."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [words[4] for words in map(str.split, lines) if words[words.index("-") + 1] == "nsfs"]


def let_go(mounts: list[str]) -> None:
    """Unmount those of ``mounts`` that still exist: another lab may be going down meanwhile."""
    for argv in [["umount", "-l", path] for path in mounts]:
        subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def wake_on_child() -> int:
    """Return a descriptor that becomes readable when a child has ended."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    return reader


def keep(file: Path) -> NoReturn:
    """Run as the keeper of the lab described in ``file``."""
    plan = json.loads(file.read_text(encoding="utf-8"))
    ended = wake_on_child()
    control = os.open(plan["control"], os.O_RDWR)
    note_pid(Path(plan["pid"]))
    let_go(namespace_files())
    carry_out(plan["commands"])
    keeper = Keeper(Path(plan["hosts"]), plan["start"], plan["disk"])
    pending = b""
    while True:
        ready, _, _ = select.select([ended, control], [], [])
        if ended in ready:
            os.read(ended, 4096)
            keeper.bury()
        if control in ready:
            *lines, pending = (pending + os.read(control, 4096)).split(b"\n")
            for line in lines:
                keeper.launch(line.decode())


def host(file: Path) -> NoReturn:
    """Run as process 1 of the host described in ``file``."""
    plan = json.loads(file.read_text(encoding="utf-8"))
    note_pid(Path(plan["pid"]))
    carry_out(plan["root"])
    fresh = not Path(plan["marker"]).exists()
    if fresh:
        carry_out(plan["populate"])
    carry_out(plan["mount"])
    change_root(plan["new_root"])
    carry_out(plan["inside"])
    if fresh:
        carry_out(plan["first"])
    carry_out(plan["boot"])
    ended = wake_on_child()
    while True:
        select.select([ended], [], [])
        os.read(ended, 4096)
        reap()


if __name__ == "__main__":
    {"keeper": keep, "host": host}[sys.argv[1]](Path(sys.argv[2]))
