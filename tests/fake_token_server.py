"""A token server on loopback that answers as it is told, for tests of what asks for tokens."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class TokenServer:
    """What it answers, and what it was asked."""

    url: str = ""
    status: int = 200
    answer: object = field(default_factory=lambda: {"access_token": "token-1", "expires_in": 60})
    """As JSON; bytes as they are."""
    slow: float = 0.0
    """Seconds until it answers."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Of each request the header of the client and the body."""


@contextmanager
def token_server(context: ssl.SSLContext | None = None) -> Iterator[TokenServer]:
    """The server; ``context``: behind TLS."""
    told = TokenServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            told.asked.append((self.headers["Authorization"], body))
            time.sleep(told.slow)
            data = told.answer if isinstance(told.answer, bytes) else json.dumps(told.answer).encode()
            self.send_response(told.status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_words: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        told.url = f"{'http' if context is None else 'https'}://127.0.0.1:{server.server_address[1]}/token"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield told
        server.shutdown()
