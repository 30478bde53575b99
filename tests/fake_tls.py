"""A door of TLS before a server of loopback, for tests of who comes in by TLS."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fake_servers import server

from chaosk.cluster.wire import Endpoint
from chaosk.lab.certificates import Pair


def serving(folder: Path, pair: Pair) -> ssl.SSLContext:
    """How a server opens connections with a certificate."""
    file = folder / "server.pem"
    file.write_text(pair.key + pair.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@contextmanager
def behind_tls(context: ssl.SSLContext, inner: Endpoint) -> Iterator[Endpoint]:
    """Where ``inner`` is reached by TLS."""

    def pass_on(connection: socket.socket) -> None:
        with (
            context.wrap_socket(connection, server_side=True) as outside,
            socket.create_connection((inner.address, inner.port)) as inside,
        ):
            back = threading.Thread(target=_pump, args=(inside, outside), daemon=True)
            back.start()
            _pump(outside, inside)
            back.join(5)

    with server(pass_on) as door:
        yield door


def _pump(come: socket.socket, go: socket.socket) -> None:
    """Carry bytes until one side closes."""
    try:
        while data := come.recv(65536):
            go.sendall(data)
        go.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
