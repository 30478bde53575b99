"""One health check: a non-blocking connection, an optional request, and its close."""

from __future__ import annotations

import errno
import selectors
import socket
import ssl
import struct
import time
from typing import Any, NamedTuple

from kafka.errors import KafkaError
from kafka.protocol.metadata import ApiVersionsRequest
from kafka.protocol.parser import KafkaProtocol

Resolved = tuple[socket.AddressFamily, tuple[Any, ...]]
"""A resolved name and port: the address family, and the socket address."""

TIMEOUT = "TIMEOUT"
"""Error of a check that hung until its time-out."""
NO_TURN = "NO_TURN"
"""Error of a check that never started, because too many others hung."""
CLOSED = "CLOSED"
"""Error of a check whose connection the broker closed instead of answering."""
NOT_KAFKA = "NOT_KAFKA"
"""Error of a check that was answered by something other than a broker."""
NO_TLS = "NO_TLS"
"""Error of a check whose TLS handshake failed."""


class Tls(NamedTuple):
    """TLS settings of a check."""

    context: ssl.SSLContext
    name: str
    """The expected name in the broker's certificate."""


OWN = frozenset(
    errno.errorcode[code] for code in (errno.EADDRNOTAVAIL, errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
) | {NO_TURN}
"""Errors of this machine, which are no evidence about the broker."""

_HELLO_VERSION = 2  # of ApiVersions: every broker since 2.0 knows it, 4.x too
_CHUNK = 1 << 16
_now = time.monotonic_ns


class HealthCheckConnection:
    """One check since its start; call :meth:`go_on` whenever its socket is ready, until :attr:`over`."""

    def __init__(self, broker: int, due: int, *, asks: bool, tls: Tls | None = None) -> None:
        """``due``: monotonic nanoseconds; ``asks``: the broker must answer ApiVersions, over ``tls`` if given."""
        self.broker, self.due, self._asks, self._tls = broker, due, asks, tls
        self.awaits = selectors.EVENT_WRITE
        self.began: int | None = None
        self.connected: int | None = None
        self.answered: int | None = None
        self.closed: int | None = None
        self.error: str | None = None
        self.socket: socket.socket | None = None
        self._protocol: Any = None

    @property
    def over(self) -> bool:
        """True once it has its outcome."""
        return self.closed is not None

    @property
    def outcome(self) -> str:
        """``ok``, ``fail``, or ``info`` if this machine was unable to try."""
        return "ok" if self.error is None else "info" if self.error in OWN else "fail"

    def begin(self, place: Resolved) -> None:
        """Start connecting."""
        family, address = place
        self.began = _now()
        try:
            self.socket = socket.socket(family, socket.SOCK_STREAM)
            self.socket.settimeout(0)
            code = self.socket.connect_ex(address)
        except OSError as error:
            code = error.errno or errno.EIO
        if code not in (0, errno.EINPROGRESS):
            self.end(errno.errorcode.get(code, str(code)))

    def go_on(self) -> None:
        """Take the next step on a ready socket."""
        try:
            if self.connected is None:
                self._connect()
            elif self._protocol is None:
                self._ask()
            else:
                self._hear()
        except ssl.SSLWantReadError:
            self.awaits = selectors.EVENT_READ
        except ssl.SSLWantWriteError:
            self.awaits = selectors.EVENT_WRITE
        except ssl.SSLError:
            self.end(NO_TLS)
        except OSError as error:
            self.end(errno.errorcode.get(error.errno or 0, str(error)))

    def end(self, error: str | None = None) -> None:
        """Close the connection; without an error the check succeeded."""
        if self.socket is not None:
            self.socket.close()
        self.error, self.closed = error, _now()

    def _connect(self) -> None:
        connection = self._socket()
        if code := connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self.end(errno.errorcode.get(code, str(code)))
            return
        self.connected = _now()
        if not self._asks:
            self.end()
            return
        if self._tls is not None:
            context, name = self._tls
            self.socket = context.wrap_socket(connection, server_hostname=name, do_handshake_on_connect=False)
        self._ask()

    def _ask(self) -> None:
        connection = self._socket()
        if isinstance(connection, ssl.SSLSocket):
            connection.do_handshake()
        self._protocol = KafkaProtocol(client_id="chaosk")  # type: ignore[no-untyped-call]
        self._protocol.send_request(ApiVersionsRequest(version=_HELLO_VERSION))
        connection.sendall(self._protocol.send_bytes())  # some 30 bytes, which a fresh connection takes at once
        self.awaits = selectors.EVENT_READ

    def _hear(self) -> None:
        data = self._socket().recv(_CHUNK)
        try:
            answers = self._protocol.receive_bytes(data)
        except (KafkaError, ValueError, LookupError, struct.error):
            self.end(NOT_KAFKA)
            return
        if answers:
            self.answered = _now()
            self.end(None if not answers[0][1].error_code else f"KAFKA_{answers[0][1].error_code}")
        elif not data:
            self.end(CLOSED)

    def _socket(self) -> socket.socket:
        assert self.socket is not None  # noqa: S101 - it has begun
        return self.socket
