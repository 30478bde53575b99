"""Connections to hosts over their routes; those to jump hosts are shared by all hosts behind them."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import paramiko

from chaosk.core.errors import HostError
from chaosk.hosts.transport.ssh.login import failure, login
from chaosk.hosts.transport.ssh.route import Hop, route
from chaosk.hosts.transport.ssh.sockets import CONNECT_WITHIN, ProxyProcess, tcp
from chaosk.spec.inventory import Host

_PROHIBITED = 1
"""The code of a jump host that does not forward (RFC 4254, 5.1)."""


@dataclass(slots=True)
class _Gateway:
    """A connection to a jump host, and the last failure to get one."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    client: paramiko.SSHClient | None = None
    why: str = ""
    failed: float = float("-inf")


class Gateways:
    """The way to all hosts of an inventory.

    One connection to a jump host carries those to all hosts behind it: sshd refuses logins that come by the dozen at
    the same time (MaxStartups).
    """

    def __init__(self) -> None:
        """Start without connections."""
        self._gateways: dict[tuple[Hop, ...], _Gateway] = {}
        self._lock = threading.Lock()

    def login(self, name: str, host: Host) -> paramiko.SSHClient:
        """Open a connection to a host, over its jump hosts if it has some; raises HostError."""
        return self._login(name, route(name, host))

    def close(self) -> None:
        """Close all connections to jump hosts."""
        with self._lock:
            gateways = list(self._gateways.values())
            self._gateways.clear()
        for gateway in gateways:
            if gateway.client is not None:
                gateway.client.close()

    def _login(self, name: str, hops: tuple[Hop, ...]) -> paramiko.SSHClient:
        *before, hop = hops
        if before:
            return login(name, hop, self._through(name, tuple(before), hop))
        if hop.proxy_command is not None:
            return _by_command(name, hop, hop.proxy_command)
        try:
            sock = tcp(hop.address, hop.port)
        except OSError as error:
            why = error.strerror or str(error) or type(error).__name__
            at = "HostName and Port of it" if hop.label else "hosts.*.address and port in the inventory"
            hint = f"check {at}, and that sshd runs there"
            raise failure(name, hop, f"cannot be reached at {hop.address} port {hop.port}: {why}; {hint}") from error
        return login(name, hop, sock)

    def _through(self, name: str, before: tuple[Hop, ...], hop: Hop) -> paramiko.Channel:
        """Return a connection to ``hop`` that its last jump host makes."""
        jump = before[-1]
        try:
            return self._connected(name, before).open_channel(
                "direct-tcpip", (hop.address, hop.port), ("127.0.0.1", 0), timeout=CONNECT_WITHIN
            )
        except paramiko.ChannelException as error:
            if error.code == _PROHIBITED:
                why = f"it does not forward to {hop.address} port {hop.port}: {error.text}; its sshd needs "
                raise failure(name, jump, f"{why}AllowTcpForwarding, and PermitOpen for that address") from error
            why = f"cannot be reached at {hop.address} port {hop.port} from the {jump.label}: {error.text}"
            hint = "check address and port, and that sshd runs there"
            raise failure(name, hop, f"{why}; {hint}") from error
        except (paramiko.SSHException, OSError, EOFError) as error:
            why = f"cannot be reached at {hop.address} port {hop.port} from the {jump.label}: {error}"
            raise failure(name, hop, f"{why}; check address and port, and that both answer") from error

    def _connected(self, name: str, hops: tuple[Hop, ...]) -> paramiko.Transport:
        """Return the connection to a jump host; who waited while it could not be made gets the same failure."""
        asked = time.monotonic()
        with self._lock:
            gateway = self._gateways.setdefault(hops, _Gateway())
        with gateway.lock:
            if (transport := _active(gateway.client)) is not None:
                return transport
            if gateway.failed >= asked:
                raise HostError(name, gateway.why)
            try:
                gateway.client = self._login(name, hops)
            except HostError as error:
                gateway.failed, gateway.why = time.monotonic(), str(error).removeprefix(f"{name}: ")
                raise
            if (transport := _active(gateway.client)) is None:
                raise failure(name, hops[-1], "the connection to it broke at once; see the log of its sshd")
            return transport


def _active(client: paramiko.SSHClient | None) -> paramiko.Transport | None:
    transport = None if client is None else client.get_transport()
    return transport if transport is not None and transport.is_active() else None


def _by_command(name: str, hop: Hop, command: str) -> paramiko.SSHClient:
    try:
        proxy = ProxyProcess(command)
    except OSError as error:
        raise failure(name, hop, f"its ProxyCommand ({hop.proxied_at}) cannot be run: {error.strerror}") from error
    try:
        client = login(name, hop, proxy.socket)
    except HostError as error:
        said = proxy.said()
        proxy.close()
        if isinstance(error.__cause__, EOFError | OSError | paramiko.SSHException):
            why = f"its ProxyCommand leads to no SSH server; {said}"
            raise failure(name, hop, f"{why}; correct it in {hop.proxied_at}") from error
        raise
    _keep(client, proxy)
    return client


def _keep(client: paramiko.SSHClient, proxy: ProxyProcess) -> None:
    """End the command when the connection is closed."""
    transport = client.get_transport()
    if transport is not None:
        threading.Thread(target=_ended, args=(transport, proxy), daemon=True).start()


def _ended(transport: paramiko.Transport, proxy: ProxyProcess) -> None:
    transport.join()
    proxy.close()
