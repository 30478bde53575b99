r"""Convert a command to one line for a login shell, and its output to a result. Pure.

All quoting is done here. The line replaces the login shell by a shell with an environment of three variables. That
shell runs the command under ``timeout`` and prints a header and trailers around its output::

    NONCE <started>\n<stdout of the command>NONCE <status> <ended>\n        NONCE at the end of stderr as well

Times are the host's wall clock in nanoseconds. Output of the login shell's start-up files comes before the header and
is dropped. With both trailers the output is complete, even if a service started by the command holds its streams open.

Where sudo asks for a password, standard error also has sudo's question and a word when the command begins, so that
chaosk knows which of the two reads its input.

A persistent shell reads one ``turn`` after the other, with the same header and trailers. A turn without a header did
not begin.
"""

from __future__ import annotations

import re
import secrets
import shlex
from dataclasses import dataclass, field
from functools import partial

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
_BEGUN = 'printf begun-%s "${0#mark-}" >&2; exec "$@"'
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


@dataclass(frozen=True, slots=True)
class RootMarks:
    """Random words on standard error, of a sudo that may ask for a password and of the command behind it.

    No argument of the command is one of them, because sudo quotes the arguments of a command that it refuses.
    """

    nonce: str = field(default_factory=partial(secrets.token_hex, 12))

    @property
    def asks(self) -> str:
        """The question of sudo."""
        return f"asks-{self.nonce}"

    @property
    def begun(self) -> str:
        """The word of a command that has begun, and reads what comes now."""
        return f"begun-{self.nonce}"

    @property
    def argument(self) -> str:
        """The argument from which the command makes that word."""
        return f"mark-{self.nonce}"


def line(
    command: Command, nonce: str, *, sudo: bool, gate: tuple[str, str] | None = None, marks: RootMarks | None = None
) -> str:
    """Return the line for the login shell; ``nonce`` frames the output and must not occur in it.

    ``gate`` has the path and the edition of the sudo gate. The gate enforces the time-out itself, because only root can
    end the command. With ``marks`` sudo asks for a password, without it never.
    """
    words = shlex.join(_timed(command))
    if command.sudo and sudo and gate is not None:
        begun = () if marks is None else (marks.argument,)
        asked = shlex.join([f"{command.timeout:g}", *begun, *command.argv])
        words = f'{_sudo(marks)}{shlex.join(gate)} "$SSH_CONNECTION" {asked}'
    elif command.sudo and sudo:
        words = f"{_sudo(marks)}{_CLEAN}{_marked(marks)}{words}"
    return f"exec {_CLEAN}sh -c {shlex.quote(_SCRIPT)} chaosk {shlex.quote(nonce)} {words}"


def shell(*, root: bool, marks: RootMarks | None = None) -> str:
    """Return the line that turns a login shell into one that reads turns from its standard input."""
    return f"exec {_sudo(marks) if root else ''}{_CLEAN}{_marked(marks) if root else ''}sh"


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


def _sudo(marks: RootMarks | None) -> str:
    """Return how sudo is called; one that asks neither uses nor keeps a ticket, which others could use (``-k``)."""
    return "sudo -n -- " if marks is None else f"sudo -k -S -p {marks.asks} -- "


def _marked(marks: RootMarks | None) -> str:
    return "" if marks is None else f"sh -c {shlex.quote(_BEGUN)} {marks.argument} "


def _timed(command: Command) -> tuple[str, ...]:
    """Return the command's words under ``timeout``."""
    return ("timeout", "-k", str(GRACE), f"{command.timeout:g}", *command.argv)
