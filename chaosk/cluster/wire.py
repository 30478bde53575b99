"""Requests to one specific broker with a separate time-out each, which librdkafka does not support.

The protocol (encoding, decoding, correlation) is kafka-python's sans-IO half. The socket is handled here, so that a
hanging broker costs only its caller ``timeout`` seconds.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from kafka.errors import KafkaError
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.metadata import ApiVersionsRequest
from kafka.protocol.parser import KafkaProtocol

from chaosk.cluster import handshake
from chaosk.cluster.login import Refused, log_in
from chaosk.cluster.security import CLEAR, Security
from chaosk.core.errors import ClusterError

TIMEOUT = 1.0
"""Seconds for one exchange with one broker, including the connection."""
PATIENCE = 5.0
"""The same before a run, when a slow broker is not a dead one."""

_HELLO_VERSION = 2  # of ApiVersions: every broker since 2.0 knows it, 4.x too
_CHUNK = 1 << 16
_NOTICE_THE_END = (
    ((socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT), 5_000),  # milliseconds until a request must have arrived
    ((socket.SOL_SOCKET, socket.SO_KEEPALIVE), 1),
    ((socket.IPPROTO_TCP, socket.TCP_KEEPIDLE), 5),
    ((socket.IPPROTO_TCP, socket.TCP_KEEPINTVL), 2),
    ((socket.IPPROTO_TCP, socket.TCP_KEEPCNT), 3),
)
"""Options by which the kernel ends a connection whose host is gone, so that not even a patient one waits for it."""
_RENEWED = 0.9
"""Share of a login's lifetime after which a new connection with a new login is opened."""


class NoAnswer(ClusterError):  # noqa: N818 - names the event
    """One broker or ZooKeeper node did not answer; the message names it and the reason."""

    def __init__(self, says: str, todo: str | None = None) -> None:
        """``todo``: the remedy, if the reason suggests one."""
        super().__init__(says)
        self.todo = todo


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a server."""

    who: str
    """Its name in messages, like ``broker 2, listener CLIENT``."""
    address: str
    port: int
    security: Security = CLEAR
    """The security of connections to it."""

    def __str__(self) -> str:
        return f"{self.who} ({self.address}:{self.port})"


class BrokerConnection:
    """A connection to one broker, opened on demand; for one thread at a time."""

    def __init__(
        self,
        place: Endpoint,
        timeout: float = TIMEOUT,
        find: Callable[[str], str] = str,
        *,
        patient: bool = False,
    ) -> None:
        """``timeout``: seconds for each :meth:`ask` by default.

        ``find``: resolves the place's address, for every connection; TLS verifies the original name.

        ``patient``: send no request while the broker has an earlier one of this connection. A broker with ZooKeeper
        reads a topic's settings there, and one that has lost it waits in a request handler until it is back: each
        repetition would take another of its eight handlers, and none would be left for its clients.
        """
        self._patient = patient
        self._ready = False
        self._owed = 0
        self.place = place
        self._find = find
        self._timeout = timeout
        self._socket: socket.socket | None = None
        self._protocol: Any = _protocol()
        self._versions: dict[int, int] = {}
        self._until: float | None = None

    @property
    def connected(self) -> bool:
        """True if a connection was opened; the broker may have closed it since."""
        return self._socket is not None

    def ask(self, *requests: ApiMessage, within: float | None = None) -> list[Any]:
        """Send all requests at once, and return their answers in the same order.

        Each request uses the newest version that both sides know, or its own if that is older. Raises NoAnswer if an
        answer is missing ``within`` so many seconds (by default the link's). The connection is closed then, so that a
        late answer is never taken for another one; a patient one stays open, and discards the late answer.
        """
        timeout = self._timeout if within is None else within
        deadline = time.monotonic() + timeout
        try:
            self._connect(deadline)
            return self._versioned(requests, deadline)
        except TimeoutError as error:
            if not (self._patient and self._ready and self._owed):
                self.close()
            raise NoAnswer(f"{self.place}: no answer within {timeout:g} s") from error
        except Refused as refused:
            self.close()
            raise NoAnswer(f"{self.place}: {refused}", refused.todo) from refused
        except ssl.SSLError as error:
            self.close()
            raise NoAnswer(f"{self.place}: {handshake.failure(error)}", handshake.todo(error)) from error
        except OSError as error:
            self.close()
            raise NoAnswer(f"{self.place}: {(error.strerror or str(error)).lower()}") from error
        except KafkaError as error:
            self.close()
            raise NoAnswer(f"{self.place}: the answering server does not speak Kafka's protocol: {error}") from error

    def close(self) -> None:
        """Close the connection; the next :meth:`ask` opens another."""
        self._ready, self._owed = False, 0
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _connect(self, deadline: float) -> None:
        if self._until is not None and time.monotonic() > self._until and not self._owed:
            self.close()  # the broker is about to close it, because the login expires
        if self._socket is not None:
            return
        # a new protocol for a new connection: half-read answers of the old one must not leak into it
        self._protocol = _protocol()
        place = self.place
        self._socket = socket.create_connection((self._find(place.address), place.port), _left(deadline))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._patient:
            for option, value in _NOTICE_THE_END:
                self._socket.setsockopt(*option, value)
        if place.security.tls is not None:
            self._socket.settimeout(_left(deadline))
            self._socket = place.security.tls.wrap_socket(self._socket, server_hostname=place.address)
        hello = ApiVersionsRequest(version=_HELLO_VERSION)
        (answer,) = self._exchange((hello,), deadline)
        if answer.error_code:
            raise KafkaError(f"it answers ApiVersions with error {answer.error_code}; brokers before 2.0 are too old")
        self._versions = {key.api_key: key.max_version for key in answer.api_keys}
        if place.security.login is not None:
            holds = log_in(
                lambda request: self._versioned([request], deadline)[0],
                place.security.login,
                lambda: _left(deadline),
            )
            self._until = None if holds is None else time.monotonic() + _RENEWED * holds
        self._ready = True

    def _versioned(self, requests: Sequence[ApiMessage], deadline: float) -> list[Any]:
        for request in requests:
            request.API_VERSION = self._version(request)
        return self._exchange(requests, deadline)

    def _version(self, request: ApiMessage) -> int:
        known = self._versions.get(request.API_KEY)
        if known is None:
            raise KafkaError(f"it does not know {request.name}")
        wanted = request.API_VERSION
        return min(known, int(request.max_version if wanted is None else wanted))

    def _exchange(self, requests: Sequence[ApiMessage], deadline: float) -> list[Any]:
        if self._socket is None:
            raise ConnectionError("not connected")
        while self._owed:
            self._receive(deadline)
        for request in requests:
            self._protocol.send_request(request)
        self._socket.settimeout(_left(deadline))
        self._owed = len(requests)
        self._socket.sendall(self._protocol.send_bytes())
        answers: list[Any] = []
        while self._owed:
            answers += self._receive(deadline)
        return answers

    def _receive(self, deadline: float) -> list[Any]:
        """Return the next answers, at least a part of one; raises TimeoutError if nothing arrives in time."""
        assert self._socket is not None  # noqa: S101 - its caller has one
        self._socket.settimeout(_left(deadline))
        data = self._socket.recv(_CHUNK)
        if not data:
            raise ConnectionError("the connection was closed")
        answers = [answer for _, answer in self._protocol.receive_bytes(data)]
        self._owed -= len(answers)
        return answers


def _protocol() -> Any:  # noqa: ANN401 - kafka-python's codec has no types
    return KafkaProtocol(client_id="chaosk")  # type: ignore[no-untyped-call]


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
