"""Scripts run as root under strace, on a host of a test's own, and what they did there."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from opened import leaves
from tracing import QUICK, Known, Touch, traced

from chaosk.hosts.scripts import PARTS, script
from chaosk.hosts.transport.wrap import PATH
from chaosk.spec.command import Command

BY_SIGNALS = ("frozen", "awake", "held", "released")
"""Actions that verify what a signal does, which is a moment later."""
SOON = 10
"""Seconds until it is seen at the latest."""
ROUTE = "198.18.7.2 40000 198.18.7.1 2222"
"""What sshd tells of a connection."""


@dataclass
class Host:
    """What stands for a host: the namespaces of a process, in which /var/lib, /run and /usr/local/sbin are its own."""

    pid: int
    folder: Path
    """Where strace leaves what it writes."""
    gate: str
    """Where a gate is, if there is one."""
    count: int = 0

    @property
    def inside(self) -> tuple[str, ...]:
        """What begins a command that is run there."""
        return ("nsenter", f"--target={self.pid}", "--mount", "--net")

    def sh(self, text: str, stdin: str = "") -> None:
        """Run a line of shell on the host, as root; nobody traces it."""
        subprocess.run([*self.inside, "sh", "-c", text], input=stdin, capture_output=True, text=True, check=True)

    def run(self, name: str, *words: object, stdin: str = "", lease: str = "") -> subprocess.CompletedProcess[str]:
        """Run a script; ``lease`` is the folder of the lease that it is under."""
        return self.program("sh", "-c", script(name), "chaosk", *map(str, words), stdin=stdin, lease=lease)

    def ask(self, name: str, *words: object, stdin: str = "", lease: str = "") -> str:
        """Run a script that must succeed; what it says. What a signal does is asked again until it is seen."""
        done = self.run(name, *words, stdin=stdin, lease=lease)
        end = time.monotonic() + SOON
        while done.returncode and words[0] in BY_SIGNALS and time.monotonic() < end:
            time.sleep(0.05)
            done = self.run(name, *words, stdin=stdin, lease=lease)
        assert done.returncode == 0, (name, words, done.stderr)
        return done.stdout

    def does(self, command: Command) -> str:
        """Carry out a command that must succeed; what it says."""
        done = self.program(*command.argv, stdin=command.stdin or "")
        assert done.returncode == 0, done.stderr
        return done.stdout

    def program(self, *argv: str, stdin: str = "", lease: str = "") -> subprocess.CompletedProcess[str]:
        """Run a program to its end, and to that of all it starts."""
        return subprocess.run(
            self._argv(argv), input=stdin, env=self._environment(lease), capture_output=True, text=True, check=False,
            timeout=120,
        )  # fmt: skip

    @contextmanager
    def leaving(self, *argv: str, stdin: str = "", lease: str = "") -> Iterator[None]:
        """Run a program that leaves something behind, which has to be ended before this is."""
        process = subprocess.Popen(
            self._argv(argv), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
            env=self._environment(lease),
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        yield
        assert process.wait(30) == 0, argv[3:]

    def _argv(self, argv: Sequence[str]) -> list[str]:
        self.count += 1
        to = self.folder / f"{self.count}"
        to.mkdir()
        return [*self.inside, *QUICK, str(to / "of"), *argv]

    def _environment(self, lease: str) -> dict[str, str]:
        return {"PATH": PATH, "LC_ALL": "C", "SSH_CONNECTION": ROUTE, **({"CHAOSK_LEASE": lease} if lease else {})}

    def touches(self) -> list[Touch]:
        """What the scripts have done so far."""
        known = Known({script(name).rstrip(): name for name in PARTS}, leaves, self.gate)
        return [touch for each in self.folder.iterdir() for touch in traced(each, known)]
