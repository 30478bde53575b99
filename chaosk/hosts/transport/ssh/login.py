"""Connect and log in to one SSH server of a route; every failure becomes one HostError with a remedy."""

from __future__ import annotations

import logging
import socket
from functools import partial
from pathlib import Path
from typing import Any

import paramiko

from chaosk.core.errors import HostError, PreflightError
from chaosk.hosts.transport.ssh.host_keys import KnownKeys, UntrustedKeyError, fingerprint, known_keys
from chaosk.hosts.transport.ssh.keys import KeyLogin
from chaosk.hosts.transport.ssh.questions import LoginRefusedError, QuestionLogin
from chaosk.hosts.transport.ssh.route import Hop
from chaosk.hosts.transport.ssh.sockets import CONNECT_WITHIN

LOGIN_WITHIN = 15.0
"""Time-out in seconds for authentication; reverse name lookups can slow a host down."""

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # otherwise paramiko prints tracebacks of these errors


class _Transport(paramiko.Transport):
    """paramiko's transport, offering the algorithms of host keys that are known."""

    def __init__(self, sock: Any, *, algorithms: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - paramiko's
        self._algorithms = algorithms
        super().__init__(sock, **options)

    @property
    def preferred_keys(self) -> tuple[str, ...]:
        return self._algorithms


class _StrictPolicy(paramiko.MissingHostKeyPolicy):
    """Checks every host key by the lines of known_hosts: paramiko itself knows neither wildcards nor authorities."""

    def __init__(self, known: KnownKeys) -> None:
        self._known = known

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:  # noqa: ARG002
        self._known.check(key)


def login(name: str, hop: Hop, sock: socket.socket | paramiko.Channel) -> paramiko.SSHClient:
    """Log in to ``hop`` over a connection to it, once its key is verified.

    Raises HostError for the host ``name``; the connection is then closed.
    """
    try:
        return _logged_in(name, hop, sock)
    except HostError:
        sock.close()
        raise


def _logged_in(name: str, hop: Hop, sock: socket.socket | paramiko.Channel) -> paramiko.SSHClient:
    known = _known(name, hop)
    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(_StrictPolicy(known))
    try:
        client.connect(
            hop.address, hop.port, username=hop.user, sock=sock, allow_agent=False, look_for_keys=False,
            timeout=CONNECT_WITHIN, banner_timeout=CONNECT_WITHIN, auth_timeout=LOGIN_WITHIN,
            transport_factory=partial(_Transport, algorithms=known.algorithms()),
            auth_strategy=KeyLogin(hop, QuestionLogin(name, hop)),  # type: ignore[arg-type] # paramiko calls nothing but authenticate()
        )  # fmt: skip
    except UntrustedKeyError as error:
        client.close()
        raise failure(name, hop, _untrusted(error, hop)) from error
    except (LoginRefusedError, PreflightError) as error:
        client.close()
        raise failure(name, hop, str(error)) from error
    except (paramiko.SSHException, OSError, EOFError, ValueError) as error:
        client.close()
        said = str(error) or type(error).__name__
        why = f"SSH with {hop.address} port {hop.port} failed: {said}; is that an SSH server?"
        raise failure(name, hop, why) from error
    return client


def failure(name: str, hop: Hop, why: str) -> HostError:
    """Return the error of a host that is reached over ``hop``, naming it if it is a jump host."""
    return HostError(name, f"{hop.label}: {why}" if hop.label else why)


def _known(name: str, hop: Hop) -> KnownKeys:
    texts: list[str] = []
    problem: OSError | None = None
    for path in hop.known_hosts:
        try:
            texts.append(path.read_text(errors="replace"))
        except OSError as error:
            problem = problem or error
    if not texts:
        hint = f"write the host's key there once you have checked it: {_scan(hop)}"
        why = problem.strerror if problem is not None else "none is named"
        raise failure(name, hop, f"cannot read the known_hosts file {_file(hop)}: {why}; {hint}") from problem
    return known_keys(texts, hop.key_name, hop.port, alias=hop.key_alias is not None)


def _untrusted(error: UntrustedKeyError, hop: Hop) -> str:
    key, path = fingerprint(error.key), _file(hop)
    match error.kind:
        case "revoked":
            return f"its host key {key} is revoked in {path}; do not connect before it is replaced"
        case "changed":
            hint = "if the host was reinstalled, remove its old line there; if not, the connection may be intercepted"
            return f"its host key changed: it offers {key}, which is not the one in {path}; {hint}"
        case "certificate":
            hint = "have its certificate issued again for the name in the inventory or in HostKeyAlias"
            return f"the certificate of its host key {key} does not count: {error.why}; {hint}"
        case _:
            return f"its host key {key} is not in {path}; check it, then: {_scan(hop)}"


def _file(hop: Hop) -> Path:
    """Return the file that a key should be written to."""
    return next(iter(hop.known_hosts), Path("~/.ssh/known_hosts"))


def _scan(hop: Hop) -> str:
    return f"ssh-keyscan -p {hop.port} {hop.address} >> {_file(hop)}"
