"""Connect and log in to one host; every failure becomes one HostError with a remedy."""

from __future__ import annotations

import base64
import hashlib
import logging
import socket
from pathlib import Path

import paramiko

from chaosk.core.errors import HostError
from chaosk.spec.inventory import Host

CONNECT_WITHIN = 5.0
"""Time-out in seconds, each for the TCP connection, the SSH banner and the key exchange."""
LOGIN_WITHIN = 15.0
"""Time-out in seconds for authentication; reverse name lookups can slow a host down."""
UNACKNOWLEDGED = 10_000
"""Milliseconds of unacknowledged data after which the connection breaks."""


logging.getLogger("paramiko").addHandler(logging.NullHandler())  # otherwise paramiko prints tracebacks of these errors


class _StrictPolicy(paramiko.MissingHostKeyPolicy):
    """Refuses unknown host keys, and keeps the offered key for the message."""

    offered: paramiko.PKey | None = None

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:  # noqa: ARG002
        self.offered = key
        raise paramiko.SSHException("unknown host key")


def login(name: str, host: Host) -> paramiko.SSHClient:
    """Open a connection to ``host``, verify its key and log in; raises HostError."""
    client = paramiko.SSHClient()
    policy = _StrictPolicy()
    revoked = _trust(client, name, host)
    client.set_missing_host_key_policy(policy)
    try:
        client.connect(
            host.address, host.port, username=host.user, key_filename=_key_file(name, host),
            allow_agent=host.key_file is None, look_for_keys=False, sock=_connect(name, host),
            timeout=CONNECT_WITHIN, banner_timeout=CONNECT_WITHIN, auth_timeout=LOGIN_WITHIN,
        )  # fmt: skip
    except (paramiko.SSHException, OSError, EOFError, ValueError) as error:
        client.close()
        raise HostError(name, _why(error, host, policy.offered, revoked)) from error
    return client


def known_hosts(host: Host) -> Path:
    """Return the file that host keys are checked against."""
    return Path(host.known_hosts or "~/.ssh/known_hosts").expanduser()


def _connect(name: str, host: Host) -> socket.socket:
    """Open a TCP connection without Nagle's delay (40 ms a command) that detects a dead peer."""
    try:
        sock = socket.create_connection((host.address, host.port), CONNECT_WITHIN)
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        hint = "check hosts.*.address and port in the inventory, and that sshd runs there"
        raise HostError(name, f"cannot be reached at {host.address} port {host.port}: {why}; {hint}") from error
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return sock


def _key_file(name: str, host: Host) -> str | None:
    if host.key_file is None:
        return None
    path = Path(host.key_file).expanduser()
    try:
        path.read_bytes()
    except OSError as error:
        hint = "name a private key that this user may read as hosts.*.key_file in the inventory"
        raise HostError(name, f"cannot read its key file {path}: {error.strerror}; {hint}") from error
    return str(path)


def _trust(client: paramiko.SSHClient, name: str, host: Host) -> frozenset[paramiko.PKey]:
    """Load the known keys into ``client``; return the revoked ones, which are left out."""
    path = known_hosts(host)
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError as error:
        hint = f"write the host's key there once you have checked it: {_scan(host, path)}"
        raise HostError(name, f"cannot read the known_hosts file {path}: {error.strerror}; {hint}") from error
    words = [line.split() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    revoked = frozenset(entry.key for entry in map(_entry, (w[1:] for w in words if w[0] == "@revoked")) if entry)
    for entry in map(_entry, (w for w in words if not w[0].startswith("@"))):
        if entry is not None and entry.key not in revoked:
            for hostname in entry.hostnames:
                client.get_host_keys().add(hostname, entry.key.get_name(), entry.key)
    return revoked


def _entry(words: list[str]) -> paramiko.hostkeys.HostKeyEntry | None:
    """Parse one line of known_hosts; None if it cannot be read: its key then counts as unknown and is refused."""
    try:
        return paramiko.hostkeys.HostKeyEntry.from_line(" ".join(words))
    except (paramiko.SSHException, paramiko.hostkeys.InvalidHostKey, ValueError):
        return None


def _why(error: Exception, host: Host, offered: paramiko.PKey | None, revoked: frozenset[paramiko.PKey]) -> str:
    """Return the reason and a remedy for an error of paramiko."""
    path = known_hosts(host)
    match error:
        case _ if offered is not None and offered in revoked:
            return f"its host key {_fingerprint(offered)} is revoked in {path}; do not connect before it is replaced"
        case _ if offered is not None:
            return f"its host key {_fingerprint(offered)} is not in {path}; check it, then: {_scan(host, path)}"
        case paramiko.BadHostKeyException():
            key = _fingerprint(error.key)
            hint = "if the host was reinstalled, remove its old line there; if not, the connection may be intercepted"
            return f"its host key changed: it offers {key}, which is not the one in {path}; {hint}"
        case paramiko.PasswordRequiredException():
            return f"its key file {host.key_file} needs a passphrase; leave key_file out and add it to an SSH agent"
        case paramiko.AuthenticationException():
            key = f"key {host.key_file}" if host.key_file else "keys of the SSH agent"
            todo = "put the public key into its authorized_keys, or check its sshd's settings (AllowUsers?)"
            return f"login as {host.user} with the {key} was refused; {todo}"
        case _:
            said = str(error) or type(error).__name__
            return f"SSH with {host.address} port {host.port} failed: {said}; is that an SSH server?"


def _scan(host: Host, path: Path) -> str:
    return f"ssh-keyscan -p {host.port} {host.address} >> {path}"


def _fingerprint(key: paramiko.PKey) -> str:
    """Format a key as ``ssh-keygen -l`` does."""
    digest = base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
    return f"{key.get_name()} SHA256:{digest}"
