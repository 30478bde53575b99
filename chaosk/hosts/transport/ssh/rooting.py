"""Root where sudo asks for a password: what starts a command, and answers that question and no other.

sudo reads the password from its standard input, which is also the command's. So chaosk sends nothing before it has
seen either sudo's question or the sign that the command has begun; both are random words on standard error. Where sudo
does not ask, the password is not sent.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

import paramiko

from chaosk.core.errors import NoRootError
from chaosk.core.printable import printable
from chaosk.hosts.transport.ssh.passwords import NoPasswordError, Password
from chaosk.hosts.transport.ssh.streams import Streams
from chaosk.hosts.transport.wrap import RootMarks
from chaosk.spec.command import Result

WITHIN = 20.0
"""Seconds for sudo to ask, and to check the password: some hosts ask a directory on the network."""
_NEEDED = "sudo: a password is required"
_INTERACTIVE = "sudo: interactive authentication is required"
_WRONG = re.compile(r"incorrect (password|authentication) attempt")


def lacks_password(result: Result) -> bool:
    """Return whether ``sudo -n`` refused a command, which then did not run, because it wants a password."""
    lines = result.stderr.strip().splitlines()
    return not result.ok and not result.stdout and lines[-1:] in ([_NEEDED], [_INTERACTIVE])


@dataclass(frozen=True, slots=True)
class Rooting:
    """How commands of one host become root."""

    name: str
    """The host's name in the inventory."""
    password: Password

    def start(self, channel: paramiko.Channel, line: str, marks: RootMarks) -> Streams:
        """Execute a line with sudo; return when the command has begun or sudo has ended, without sudo's own words.

        Raises NoRootError if there is no right password, and OSError or paramiko's errors if the connection breaks.
        """
        streams = Streams(channel)
        try:
            with self.password.offered(self.name) as secret:
                channel.exec_command(line)  # nosec B601
                asked = self._wait(streams, marks, 1)
                if asked:
                    channel.sendall(f"{secret.reveal()}\n".encode())
                    self._verdict(channel, streams, marks)
        except NoPasswordError as error:
            raise NoRootError(self.name, str(error)) from error
        _drop(streams, marks)
        return streams

    def _verdict(self, channel: paramiko.Channel, streams: Streams, marks: RootMarks) -> None:
        """Wait for sudo's answer to the password; raises NoPasswordError if it was wrong."""
        again = self._wait(streams, marks, 2)
        if again:
            _kill(channel)
        said = streams.stderr.decode(errors="replace")
        if again or (marks.begun not in said and _WRONG.search(said)):
            raise self.password.refuse(self.name)
        if marks.begun in said:
            self.password.accept()

    def _wait(self, streams: Streams, marks: RootMarks, times: int) -> bool:
        """Wait until sudo has asked so many times; False if the command has begun, or sudo has ended."""
        until = time.monotonic() + WITHIN
        while True:
            streams.receive()
            if marks.begun.encode() in streams.stderr:
                return False
            if streams.stderr.count(marks.asks.encode()) >= times:
                return True
            if streams.at_end:
                return False
            if time.monotonic() >= until:
                said = printable(streams.stderr.decode(errors="replace").strip()[-200:])
                raise TimeoutError(f"sudo did not answer within {WITHIN:g} s, and wrote {said!r}")
            streams.wait(1.0)


def _drop(streams: Streams, marks: RootMarks) -> None:
    """Remove what sudo wrote before the command began, or only its questions if the command did not."""
    _, begun, after = streams.stderr.partition(marks.begun.encode())
    streams.stderr[:] = after if begun else streams.stderr.replace(marks.asks.encode(), b"")


def _kill(channel: paramiko.Channel) -> None:
    """End a sudo that asks again at once: the end of its input would count as another wrong password (pam_faillock).

    The account may signal a sudo that waits for a password. Paramiko has no method for this request (RFC 4254, 6.9).
    """
    request = paramiko.Message()
    request.add_byte(b"\x62")  # SSH_MSG_CHANNEL_REQUEST
    request.add_int(channel.remote_chanid)
    request.add_string("signal")
    request.add_boolean(False)  # noqa: FBT003 - paramiko's signature
    request.add_string("KILL")
    channel.get_transport()._send_user_message(request)  # type: ignore[attr-defined] # noqa: SLF001
    channel.shutdown_write()  # for servers that send no signals
