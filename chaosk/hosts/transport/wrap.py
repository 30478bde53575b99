r"""Convert a command to one line for a login shell, and its output to a result. Pure.

All quoting is done here. The line replaces the login shell by a shell with an environment of three variables. That
shell runs the command under ``timeout`` and prints a header and trailers around its output::

    NONCE <started>\n<stdout of the command>NONCE <status> <ended>\n        NONCE at the end of stderr as well

Times are the host's wall clock in nanoseconds. Output of the login shell's start-up files comes before the header and
is dropped. With both trailers the output is complete, even if a service started by the command holds its streams open.

A persistent shell reads one ``turn`` after the other, with the same header and trailers. A turn without a header did
not begin.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from chaosk.spec.command import Command

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CLEAN = f'env -i PATH={PATH} LC_ALL=C SSH_CONNECTION="$SSH_CONNECTION" '
GRACE = 2
"""Seconds between SIGTERM and SIGKILL for a hung command."""
TIMED_OUT = 124
"""Exit status of ``timeout`` (coreutils) on a time-out."""

_HEADER = 'n=$1; shift; printf "%s %s\\n" "$n" "$(date +%s%N)"'
_TRAILERS = 's=$?; printf "%s %s %s\\n" "$n" "$s" "$(date +%s%N)"; printf %s "$n" >&2'
_SCRIPT = f'{_HEADER}; "$@"; {_TRAILERS}'
_TURN = f'{_HEADER}; "$@" </dev/null; {_TRAILERS}'


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """The output of a command, unwrapped."""

    exit_status: int
    stdout: str
    stderr: str
    started: int
    """Nanoseconds of the host's wall clock."""
    ended: int


def line(command: Command, nonce: str, *, sudo: bool, gate: tuple[str, str] | None = None) -> str:
    """Return the line for the login shell; ``nonce`` frames the output and must not occur in it.

    ``gate`` has the path and the edition of the sudo gate. The gate enforces the time-out itself, because only root can
    end the command.
    """
    words = shlex.join(_timed(command))
    if command.sudo and sudo and gate is not None:
        asked = shlex.join([f"{command.timeout:g}", *command.argv])
        words = f'sudo -n -- {shlex.join(gate)} "$SSH_CONNECTION" {asked}'
    elif command.sudo and sudo:
        words = f"sudo -n -- {_CLEAN}{words}"
    return f"exec {_CLEAN}sh -c {shlex.quote(_SCRIPT)} chaosk {shlex.quote(nonce)} {words}"


def shell(*, root: bool) -> str:
    """Return the line that turns a login shell into one that reads turns from its standard input."""
    return f"exec {'sudo -n -- ' if root else ''}{_CLEAN}sh"


def turn(command: Command, nonce: str) -> str:
    """Return the input that makes a persistent shell run one command; nothing runs before the input is complete."""
    return f"{{ set -- {shlex.join((nonce, *_timed(command)))}; {_TURN}; }}\n"


def began(stdout: bytes | bytearray, nonce: str) -> bool:
    """Return whether the header has arrived."""
    return re.search(rf"{re.escape(nonce)} \d+\n".encode(), stdout) is not None


def complete(stdout: bytes | bytearray, stderr: bytes | bytearray, nonce: str) -> bool:
    """Return whether both trailers have arrived."""
    mark = nonce.encode()
    return mark in stderr and stdout.endswith(b"\n") and stdout.rfind(mark) > stdout.find(mark)


def unwrap(stdout: bytes, stderr: bytes, nonce: str) -> CommandOutput | None:
    """Return the answer between header and trailers; None if one of them is missing."""
    mark = re.escape(nonce)
    text = stdout.decode(errors="replace")
    found = re.search(rf"{mark} (\d+)\n(.*){mark} (\d+) (\d+)\n", text, re.DOTALL)
    errors, seen, _ = stderr.decode(errors="replace").rpartition(nonce)
    if found is None or not seen:
        return None
    return CommandOutput(int(found[3]), found[2], errors, started=int(found[1]), ended=int(found[4]))


def _timed(command: Command) -> tuple[str, ...]:
    """Return the command's words under ``timeout``."""
    return ("timeout", "-k", str(GRACE), f"{command.timeout:g}", *command.argv)
