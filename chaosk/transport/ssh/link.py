"""The connection to one host: made when needed, kept, shared by threads, made anew when it broke."""

from __future__ import annotations

import secrets
import select
import threading
import time

import paramiko

from chaosk import gate
from chaosk.errors import ConnectionLost, StepError
from chaosk.inventory import Host
from chaosk.transport import wrap
from chaosk.transport.command import Command, Result
from chaosk.transport.ssh.login import login

SESSIONS = 8
"""Commands at the same time on one connection; sshd allows 10 unless told otherwise (MaxSessions)."""
SLACK = 3.0
"""Seconds an answer may take beyond the command's own time, before the connection counts as broken."""
MOST_OUTPUT = 16 * 1024**2
"""Bytes of output that are kept; a command that says more cannot be answered."""
_CHUNK = 256 * 1024
_BROKEN = (paramiko.SSHException, OSError, EOFError)


class NotSentError(Exception):
    """The connection broke before the command was handed over: it did not run. The cause says why."""


class Link:
    """One host's connection."""

    def __init__(self, name: str, host: Host) -> None:
        """``name`` is the inventory's name of the host, for messages."""
        self._name = name
        self._host = host
        self._client: paramiko.SSHClient | None = None
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(SESSIONS)

    def run(self, command: Command) -> Result:
        """Run one command; raises HostError, NotSentError, ConnectionLost or StepError (what came is no answer)."""
        with self._room:
            client = self._connected()
            with self._session(client) as channel:
                try:
                    return self._exchange(channel, command)
                except _BROKEN as error:
                    self._drop(client)
                    raise self._lost(command, str(error) or "connection closed") from error
                except ConnectionLost:
                    self._drop(client)
                    raise

    def close(self) -> None:
        """Close the connection, if there is one."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def _connected(self) -> paramiko.SSHClient:
        with self._lock:
            transport = self._client.get_transport() if self._client else None
            if self._client is None or transport is None or not transport.is_active():
                self._client = login(self._name, self._host)
            return self._client

    def _drop(self, client: paramiko.SSHClient) -> None:
        """Close a broken connection; a new one that another thread has made already is left alone."""
        with self._lock:
            client.close()
            if self._client is client:
                self._client = None

    def _session(self, client: paramiko.SSHClient) -> paramiko.Channel:
        transport = client.get_transport()
        try:
            if transport is None:
                raise EOFError("connection closed")
            return transport.open_session(timeout=SLACK)
        except paramiko.ChannelException as error:
            raise NotSentError from error  # refused, for too many sessions perhaps: the connection itself is fine
        except _BROKEN as error:
            self._drop(client)
            raise NotSentError from error

    def _exchange(self, channel: paramiko.Channel, command: Command) -> Result:
        nonce = secrets.token_hex(12)
        line, stdin = self._line(command, nonce)
        channel.settimeout(command.timeout + wrap.GRACE + SLACK)
        sent = time.monotonic_ns()
        channel.exec_command(line)  # nosec B601
        if stdin is not None:
            channel.sendall(stdin.encode())
        channel.shutdown_write()
        stdout, stderr = self._read(channel, command, nonce)
        received = time.monotonic_ns()
        answer = wrap.unwrap(stdout, stderr, nonce)
        if answer is None:
            raise self._no_answer(channel, command, stdout + stderr)
        return Result(
            command=command, exit_status=answer.exit_status, stdout=answer.stdout, stderr=answer.stderr, sent=sent,
            received=received, host_started=answer.started, host_ended=answer.ended,
        )  # fmt: skip

    def _line(self, command: Command, nonce: str) -> tuple[str, str | None]:
        """What the login shell reads, and what the command reads."""
        at = self._host
        if at.gate is None or not (command.sudo and at.sudo):
            return wrap.line(command, nonce, sudo=at.sudo), command.stdin
        gated = gate.through(command, at.gate)
        return wrap.line(gated, nonce, sudo=True, gate=(at.gate, gate.edition())), gated.stdin

    def _read(self, channel: paramiko.Channel, command: Command, nonce: str) -> tuple[bytes, bytes]:
        """Both streams until the trailers are there, or the host closes them; raises ConnectionLost if it hangs."""
        patience = command.timeout + wrap.GRACE + SLACK
        end = time.monotonic() + patience
        stdout, stderr = bytearray(), bytearray()
        waiting = select.poll()
        waiting.register(channel.fileno(), select.POLLIN)
        while not (wrap.complete(stdout, stderr, nonce) or _at_end(channel)):
            while channel.recv_ready():
                stdout += channel.recv(_CHUNK)
            while channel.recv_stderr_ready():
                stderr += channel.recv_stderr(_CHUNK)
            if len(stdout) + len(stderr) > MOST_OUTPUT:
                raise StepError(f"{self._name}: `{command.brief}` said more than {MOST_OUTPUT // 1024**2} MiB")
            left = end - time.monotonic()
            if left <= 0:
                raise self._lost(command, f"no answer within {patience:g} s")
            if not wrap.complete(stdout, stderr, nonce):
                waiting.poll(min(left, 1.0) * 1000)
        return bytes(stdout), bytes(stderr)

    def _lost(self, command: Command, why: str) -> ConnectionLost:
        return ConnectionLost(f"{self._name}: `{command.brief}`: outcome unknown, the connection broke: {why}")

    def _no_answer(self, channel: paramiko.Channel, command: Command, said: bytes) -> StepError:
        transport = channel.get_transport()
        if not transport.is_active():
            return self._lost(command, "connection closed")
        text = said.decode(errors="replace").strip()[-300:]
        hint = f"is the login shell of {self._host.user} a POSIX shell, and has the host env, sh, date and timeout?"
        return StepError(f"{self._name}: `{command.brief}` gave no answer, only {text!r}; {hint}")


def _at_end(channel: paramiko.Channel) -> bool:
    """Whether nothing more can come."""
    ended = channel.closed or bool(channel.eof_received)
    return ended and not channel.recv_ready() and not channel.recv_stderr_ready()
