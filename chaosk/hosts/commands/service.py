"""Commands for one server process (broker, controller, ZooKeeper node): under systemd, or by scripts and a pid file.

Pure: nothing here connects. Each function yields a command that runs one constant script as root on the process's
host. The script proves first which process is meant: systemd's main process, or the one in the pid file if its command
line names the configuration file (without one in the inventory: if it is as old as the pid file).
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal

from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.inventory import Broker, Controller, ScriptService, ServerProcess, ZooKeeper

Signal = Literal["STOP", "CONT", "TERM"]

_INTERPRETERS = frozenset({"sh", "ash", "bash", "dash", "ksh", "zsh", "perl", "python", "python3"})
_RUNNERS = _INTERPRETERS | {"env", "nohup", "nice", "ionice", "setsid", "stdbuf", "taskset", "time", "timeout"}
"""Programs that carry out a file which their words name, as the account that has started them."""

QUICK = 15.0
"""Seconds for a command that only looks or sends a signal; sudo and JVMs can keep a host busy."""
SLOW = 120.0
"""Seconds for a start or stop: a broker recovers its log first, and moves its leaderships away."""


def ports(process: ServerProcess) -> tuple[int, ...]:
    """Where it listens for those who use it: not the ports by which ZooKeeper nodes elect their leader."""
    match process:
        case Broker():
            return tuple(sorted({listener.port for listener in process.listeners.values()}))
        case ZooKeeper():
            return (process.client_port,)
        case Controller():
            return (process.port,)
        case _:
            return ()


def place(process: ServerProcess) -> tuple[str, str, str]:
    """The words by which scripts find the process: kind, place, and its configuration file or nothing."""
    service = process.service
    where = ("script", service.pid_file) if isinstance(service, ScriptService) else ("systemd", service.systemd)
    return (*where, process.config or "")


def is_running(process: ServerProcess) -> Command:
    """Whether the process is there (perhaps stopped by a signal, but no zombie)."""
    return _ask(process, "runs")


def is_gone(process: ServerProcess) -> Command:
    """Whether there is no such process, nor another that listens on its ports in its stead."""
    return _ask(process, "gone", *map(str, ports(process)))


def is_frozen(process: ServerProcess) -> Command:
    """Whether the process is there, stopped by a signal (state T of proc(5))."""
    return _ask(process, "frozen")


def is_awake(process: ServerProcess) -> Command:
    """Whether the process is there and not stopped by a signal."""
    return _ask(process, "awake")


def signal(process: ServerProcess, name: Signal) -> Command:
    """Send a signal; fails if the process does not run."""
    return _command(process, "signal", name)


def kill(process: ServerProcess) -> Command:
    """Send KILL; fails if the process does not run. The lease under which it is done keeps which process that was."""
    return _command(process, "kill")


def is_ended(process: ServerProcess, lease: str) -> Command:
    """Whether the process that was killed under a lease is gone, whoever has taken its place."""
    return _ask(process, "ended", lease)


def is_returned(process: ServerProcess, lease: str) -> Command:
    """Whether another one runs than was killed under a lease; says how long after the kill it began."""
    return _ask(process, "returned", lease)


def resume(process: ServerProcess) -> Command:
    """Send CONT if the process runs; else there is nothing to resume, which is no failure."""
    return _ask(process, "signal-if-running", "CONT")


def start(process: ServerProcess) -> Command:
    """Start it, unless it runs already, and again if it ends at once; ends itself when it listens on its ports.

    A program of the inventory's is run as root if nobody else can replace its file, else as the account whose that is.
    """
    argv = _program(process.service.start) if isinstance(process.service, ScriptService) else ()
    listening = ",".join(map(str, ports(process)))
    return _foreign(process, "start", listening, *argv)


def stop(process: ServerProcess) -> Command:
    """Stop it cleanly, if it runs; it may not be gone yet when the command ends."""
    argv = _program(process.service.stop) if isinstance(process.service, ScriptService) else ()
    return _foreign(process, "stop", *argv)


def stop_from(process: ServerProcess, folder: str) -> Command:
    """Stop it cleanly, unless it is seen to run from another installation of Kafka than the one in a folder."""
    argv = _program(process.service.stop) if isinstance(process.service, ScriptService) else ()
    return _foreign(process, "stop-from", folder, *argv)


def program_of(argv: tuple[str, ...]) -> str:
    """The file whose owner decides as whom an operator's program is run: what an interpreter reads, else the program.

    >>> program_of(("/usr/bin/nice", "-n", "5", "/bin/bash", "-x", "/opt/kafka/start.sh"))
    '/opt/kafka/start.sh'
    """
    runner = ""
    for word in argv:
        name = PurePosixPath(word).name
        if name in _RUNNERS:
            runner = name
        elif not runner or word.startswith("/"):
            return word
        elif runner in _INTERPRETERS and word == "-c":
            break  # what it reads is in no file
    return argv[0]


def _program(argv: tuple[str, ...]) -> tuple[str, ...]:
    """As the script wants it: the file that decides, and all words."""
    return (program_of(argv), *argv)


def _foreign(process: ServerProcess, *words: str) -> Command:
    """What runs the operator's own scripts: who knows what they leave behind."""
    return _command(process, *words, timeout=SLOW, repeatable=True, alone=True)


def _ask(process: ServerProcess, *words: str) -> Command:
    return _command(process, *words, repeatable=True)


def _command(
    process: ServerProcess, action: str, *words: str, timeout: float = QUICK, repeatable: bool = False,
    alone: bool = False,
) -> Command:  # fmt: skip
    argv = ("sh", "-c", script("service"), "chaosk", action, *place(process), *words)
    return Command(host=process.host, argv=argv, sudo=True, timeout=timeout, repeatable=repeatable, alone=alone)
