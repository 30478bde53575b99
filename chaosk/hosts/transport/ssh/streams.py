"""The streams of a channel, received while somebody waits for something in them."""

from __future__ import annotations

import select

import paramiko

_CHUNK = 256 * 1024


class Streams:
    """What a channel has brought so far."""

    def __init__(self, channel: paramiko.Channel) -> None:
        """Start with nothing."""
        self._channel = channel
        self._waiting = select.poll()
        self._waiting.register(channel.fileno(), select.POLLIN)
        self.stdout = bytearray()
        self.stderr = bytearray()

    @property
    def at_end(self) -> bool:
        """True if the channel is closed and read completely."""
        channel = self._channel
        ended = channel.closed or bool(channel.eof_received)
        return ended and not channel.recv_ready() and not channel.recv_stderr_ready()

    def receive(self) -> None:
        """Take what is there."""
        while self._channel.recv_ready():
            self.stdout += self._channel.recv(_CHUNK)
        while self._channel.recv_stderr_ready():
            self.stderr += self._channel.recv_stderr(_CHUNK)

    def wait(self, seconds: float) -> None:
        """Wait until there is more, at most so long."""
        self._waiting.poll(seconds * 1000)
