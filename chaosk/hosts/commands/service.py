"""Commands for one server process (broker, controller, ZooKeeper node), run by systemd or by scripts and a pid file.

Pure: nothing here connects. Each function returns a command that runs one constant script as root on the process's
host. The script first verifies the process. With systemd it is the main process. With a pid file its command line has
to name the configuration file; if the inventory has none, the process has to be as old as the pid file.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal

from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command
from chaosk.spec.inventory import Broker, Controller, ScriptService, ServerProcess, ZooKeeper

Signal = Literal["STOP", "CONT", "TERM"]

_INTERPRETERS = frozenset({"sh", "ash", "bash", "dash", "ksh", "zsh", "perl", "python", "python3"})
_RUNNERS = _INTERPRETERS | {"env", "nohup", "nice", "ionice", "setsid", "stdbuf", "taskset", "time", "timeout"}
"""Programs that run another file named in their arguments, as the account that has started them."""

QUICK = 15.0
"""Time-out in seconds for a check or a signal; sudo and JVMs can keep a host busy."""
SLOW = 120.0
"""Time-out in seconds for a start or stop: a broker recovers its log, or moves its leaderships away first."""


def ports(process: ServerProcess) -> tuple[int, ...]:
    """Return the ports for clients, without those that ZooKeeper nodes elect their leader on."""
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
    """Return the arguments that identify the process to scripts: kind, place, and configuration file or nothing."""
    service = process.service
    where = ("script", service.pid_file) if isinstance(service, ScriptService) else ("systemd", service.systemd)
    return (*where, process.config or "")


def is_running(process: ServerProcess) -> Command:
    """Check that the process exists: perhaps stopped by a signal, but no zombie."""
    return _ask(process, "runs")


def is_gone(process: ServerProcess) -> Command:
    """Check that the process does not exist, and that no other process listens on its ports."""
    return _ask(process, "gone", *map(str, ports(process)))


def is_frozen(process: ServerProcess) -> Command:
    """Check that the process is stopped by a signal (state T of proc(5))."""
    return _ask(process, "frozen")


def is_awake(process: ServerProcess) -> Command:
    """Check that the process exists and is not stopped by a signal."""
    return _ask(process, "awake")


def signal(process: ServerProcess, name: Signal) -> Command:
    """Send a signal; fails if the process does not run."""
    return _command(process, "signal", name)


def kill(process: ServerProcess) -> Command:
    """Send SIGKILL; fails if the process does not run. The lease records the killed process."""
    return _command(process, "kill")


def is_ended(process: ServerProcess, lease: str) -> Command:
    """Check that the process killed under a lease is gone, regardless of a successor."""
    return _ask(process, "ended", lease)


def is_returned(process: ServerProcess, lease: str) -> Command:
    """Check that a successor of the process killed under a lease runs; prints its start in seconds after the kill."""
    return _ask(process, "returned", lease)


def resume(process: ServerProcess) -> Command:
    """Send SIGCONT if the process runs; succeeds also if it does not."""
    return _ask(process, "signal-if-running", "CONT")


def start(process: ServerProcess) -> Command:
    """Start the server unless it runs, again if it ends at once; returns when it listens on its ports.

    A start program of the inventory runs as root if only root can replace its file, otherwise as the file's owner.
    """
    argv = _program(process.service.start) if isinstance(process.service, ScriptService) else ()
    listening = ",".join(map(str, ports(process)))
    return _foreign(process, "start", listening, *argv)


def stop(process: ServerProcess) -> Command:
    """Stop the server cleanly if it runs; the process may still exist when the command returns."""
    argv = _program(process.service.stop) if isinstance(process.service, ScriptService) else ()
    return _foreign(process, "stop", *argv)


def stop_from(process: ServerProcess, folder: str) -> Command:
    """Stop the server cleanly, unless it is known to run from another installation of Kafka than ``folder``."""
    argv = _program(process.service.stop) if isinstance(process.service, ScriptService) else ()
    return _foreign(process, "stop-from", folder, *argv)


def program_of(argv: tuple[str, ...]) -> str:
    """Return the file whose owner decides the account of an operator's program: a script rather than its interpreter.

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
            break  # a script on the command line is in no file
    return argv[0]


def _program(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return the deciding file, then all words, as the script expects them."""
    return (program_of(argv), *argv)


def _foreign(process: ServerProcess, *words: str) -> Command:
    """Return a command that runs the operator's own scripts; it gets a separate session: they may leave processes."""
    return _command(process, *words, timeout=SLOW, repeatable=True, alone=True)


def _ask(process: ServerProcess, *words: str) -> Command:
    return _command(process, *words, repeatable=True)


def _command(
    process: ServerProcess, *words: str, timeout: float = QUICK, repeatable: bool = False, alone: bool = False
) -> Command:
    action, *rest = words
    return script_command(
        process.host, "service", action, *place(process), *rest, timeout=timeout, repeatable=repeatable, alone=alone
    )
