"""The role of a ZooKeeper node, by its four-letter word ``srvr``: one short connection, at most one second."""

from __future__ import annotations

import re
import socket
import time

from chaosk.cluster.wire import TIMEOUT, Endpoint, NoAnswer

_LARGEST = 1 << 16
_REFUSED = "is not executed because it is not in the whitelist"


def ask_mode(node: Endpoint, timeout: float = TIMEOUT) -> str:
    """Return ``leader``, ``follower``, ``observer`` or ``standalone``; raises NoAnswer if the node does not serve."""
    deadline = time.monotonic() + timeout
    try:
        with socket.create_connection((node.address, node.port), timeout) as connection:
            connection.sendall(b"srvr")
            return parse_mode(node, _read(connection, deadline))
    except TimeoutError as error:
        raise NoAnswer(f"{node}: no answer within {timeout:g} s") from error
    except OSError as error:
        raise NoAnswer(f"{node}: {(error.strerror or str(error)).lower()}") from error


def parse_mode(node: Endpoint, answer: str) -> str:
    """Parse the mode in an answer to ``srvr``; raises NoAnswer if there is none."""
    found = re.search(r"^Mode: ([a-z]+)\s*$", answer, re.MULTILINE)
    if found:
        return found[1]
    if _REFUSED in answer:
        raise NoAnswer(f"{node}: srvr is not allowed there; add it to 4lw.commands.whitelist of that node")
    if not answer:
        raise NoAnswer(f"{node}: the connection was closed without an answer")
    raise NoAnswer(f"{node}: it serves no requests: {answer.strip().splitlines()[0][:100]}")


def _read(connection: socket.socket, deadline: float) -> str:
    data = b""
    while len(data) < _LARGEST:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        chunk = connection.recv(4096)
        if not chunk:
            break
        data += chunk
    return data.decode("utf-8", "replace")
