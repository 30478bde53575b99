"""The first hop: a TCP connection, or a command whose standard streams are one."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import weakref
from typing import IO

CONNECT_WITHIN = 5.0
"""Time-out in seconds, each for the TCP connection, the SSH banner and the key exchange."""
UNACKNOWLEDGED = 10_000
"""Milliseconds of unacknowledged data after which the connection breaks."""


class PromptSocket(socket.socket):
    """A TCP socket that acknowledges at once what it has received.

    Nagle's algorithm is on in an sshd that only forwards: the second part of an answer waits there until the first one
    is acknowledged, which Linux delays by 40 ms. Linux forgets the option, so it is set again each time.
    """

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Receive as any socket, and acknowledge."""
        data = super().recv(size, flags)
        self.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        return data


def tcp(address: str, port: int) -> socket.socket:
    """Open a TCP connection without Nagle's delay (40 ms a command) that detects a dead peer; raises OSError."""
    sock = PromptSocket(fileno=socket.create_connection((address, port), CONNECT_WITHIN).detach())
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return sock


class ProxyProcess:
    """A running ``ProxyCommand``; it ends when its socket is closed, and is ended with it.

    Paramiko's own does not notice that the command has ended, and leaves it unreaped. The command has a session of its
    own: Ctrl-C at chaosk's terminal must not end the connection that chaosk heals over.
    """

    def __init__(self, command: str) -> None:
        """Start it as ssh(1) does, by a shell that it replaces; raises OSError."""
        self.socket, theirs = socket.socketpair()
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the command
        with theirs:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {command}"],
                stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=self._errors, start_new_session=True,
            )  # fmt: skip
        self._finalizer = weakref.finalize(self, _end, self._process, self.socket, self._errors)

    def said(self) -> str:
        """Return the last line that it wrote to standard error, and its exit status if it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        self._errors.seek(0)
        lines = self._errors.read()[-4096:].decode(errors="replace").strip().splitlines()
        status = self._process.poll()
        ended = "it runs on" if status is None else f"it ended with status {status}"
        return f"{ended}: {lines[-1].strip()}" if lines else ended

    def close(self) -> None:
        """End it."""
        self._finalizer()


def _end(process: subprocess.Popen[bytes], sock: socket.socket, errors: IO[bytes]) -> None:
    sock.close()
    errors.close()
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(2.0)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
