"""Send one command over one channel, and read its output up to the trailers."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import paramiko

from chaosk.core.errors import ConnectionLost, StepError
from chaosk.hosts import sudo_gate
from chaosk.hosts.transport import wrap
from chaosk.hosts.transport.ssh.rooting import Rooting
from chaosk.hosts.transport.ssh.streams import Streams
from chaosk.spec.command import Command, Result
from chaosk.spec.inventory import Host

SLACK = 3.0
"""Seconds beyond the command's own time-out after which the connection counts as broken."""
MOST_OUTPUT = 16 * 1024**2
"""Maximum bytes of output; a command that prints more fails."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A command for a host, and the nonce that frames its output."""

    name: str
    """The host's name in the inventory, for messages."""
    host: Host
    command: Command
    nonce: str = field(default_factory=partial(secrets.token_hex, 12))

    def alone(self, channel: paramiko.Channel, rooting: Rooting | None = None) -> Result:
        """Run the command in a separate session; ``rooting`` if sudo asks for a password on the way.

        Raises ConnectionLost, StepError or paramiko's errors, and NoRootError for a password that is refused.
        """
        marks = wrap.RootMarks()
        line, stdin = self._line(None if rooting is None else marks)
        channel.settimeout(self._patience)
        sent = time.monotonic_ns()
        if rooting is None:
            streams = Streams(channel)
            channel.exec_command(line)  # nosec B601
        else:
            streams = rooting.start(channel, line, marks)
        if stdin is not None and not streams.at_end:
            channel.sendall(stdin.encode())
        channel.shutdown_write()
        stdout, stderr = self._read(streams)
        return self._result(sent, stdout, stderr) or self._no_answer(channel, stdout + stderr)

    def turn(self, channel: paramiko.Channel, alive: Callable[[], None]) -> Result | None:
        """Run the command in a persistent shell; None if the shell ended before the command began.

        A command that did not begin never runs. ``alive`` is called if the command has not begun after SLACK seconds;
        it raises if the connection is dead. Raises the errors of :meth:`alone`, and ConnectionLost if the shell ended
        during the command.
        """
        channel.settimeout(self._patience)
        sent = time.monotonic_ns()
        channel.sendall(wrap.turn(self.command, self.nonce).encode())
        stdout, stderr = self._read(Streams(channel), alive)
        result = self._result(sent, stdout, stderr)
        if result is None and (wrap.began(stdout, self.nonce) or not channel.get_transport().is_active()):
            raise self.lost("its shell ended")
        return result

    def lost(self, why: str) -> ConnectionLost:
        """Return the error for a command whose outcome is unknown."""
        return ConnectionLost(f"{self.name}: `{self.command.brief}`: outcome unknown, the connection broke: {why}")

    @property
    def _patience(self) -> float:
        return self.command.timeout + wrap.GRACE + SLACK

    def _line(self, marks: wrap.RootMarks | None) -> tuple[str, str | None]:
        """Return the line for the login shell, and the standard input of the command."""
        at = self.host
        if at.gate is None or not (self.command.sudo and at.sudo):
            return wrap.line(self.command, self.nonce, sudo=at.sudo, marks=marks), self.command.stdin
        gated, gate = sudo_gate.through(self.command, at.gate), (at.gate, sudo_gate.edition())
        return wrap.line(gated, self.nonce, sudo=True, gate=gate, marks=marks), gated.stdin

    def _read(self, streams: Streams, alive: Callable[[], None] | None = None) -> tuple[bytes, bytes]:
        """Read both streams up to the trailers, or to their end; raises ConnectionLost on a time-out."""
        began = time.monotonic()
        while not (self._complete(streams) or streams.at_end):
            streams.receive()
            if len(streams.stdout) + len(streams.stderr) > MOST_OUTPUT:
                raise StepError(f"{self.name}: `{self.command.brief}` wrote more than {MOST_OUTPUT // 1024**2} MiB")
            waited = time.monotonic() - began
            if waited >= self._patience:
                raise self.lost(f"no answer within {self._patience:g} s")
            if alive is not None and waited >= SLACK:
                if not wrap.began(streams.stdout, self.nonce):
                    alive()
                alive = None
            if not self._complete(streams):
                streams.wait(min(self._patience - waited, 1.0))
        return bytes(streams.stdout), bytes(streams.stderr)

    def _complete(self, streams: Streams) -> bool:
        return wrap.complete(streams.stdout, streams.stderr, self.nonce)

    def _result(self, sent: int, stdout: bytes, stderr: bytes) -> Result | None:
        received = time.monotonic_ns()
        answer = wrap.unwrap(stdout, stderr, self.nonce)
        if answer is None:
            return None
        return Result(
            command=self.command, exit_status=answer.exit_status, stdout=answer.stdout, stderr=answer.stderr, sent=sent,
            received=received, host_started=answer.started, host_ended=answer.ended,
        )  # fmt: skip

    def _no_answer(self, channel: paramiko.Channel, said: bytes) -> Result:
        """Raise ConnectionLost or StepError for a command without a complete answer."""
        if not channel.get_transport().is_active():
            raise self.lost("connection closed")
        text = said.decode(errors="replace").strip()[-300:]
        hint = f"is the login shell of {self.host.user} a POSIX shell, and has the host env, sh, date and timeout?"
        raise StepError(f"{self.name}: `{self.command.brief}` gave no answer, only {text!r}; {hint}")
