"""The persistent connection to one host: opened when needed, shared by threads, replaced when it breaks."""

from __future__ import annotations

import threading

import paramiko

from chaosk.core.errors import ConnectionLost
from chaosk.hosts.transport import wrap
from chaosk.hosts.transport.ssh.exchange import SLACK, Exchange
from chaosk.hosts.transport.ssh.gateways import Gateways
from chaosk.hosts.transport.ssh.passwords import password
from chaosk.hosts.transport.ssh.rooting import Rooting, lacks_password
from chaosk.hosts.transport.ssh.shells import Shells
from chaosk.spec.command import Command, Result
from chaosk.spec.inventory import Host, SecretRef

SESSIONS = 8
"""Maximum parallel commands on one connection; sshd allows 10 sessions by default (MaxSessions), and two shells are
kept open."""
_BROKEN = (paramiko.SSHException, OSError, EOFError)


class NotSentError(Exception):
    """The connection broke before the command was sent, so it did not run. The cause has the reason."""


class SshConnection:
    """The connection to one host."""

    def __init__(self, name: str, host: Host, gateways: Gateways) -> None:
        """Take the host, its name in the inventory, for messages, and the way there."""
        self._gateways = gateways
        self._name = name
        self._host = host
        self._client: paramiko.SSHClient | None = None
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(SESSIONS)
        self._shells = Shells()
        reference = host.ssh.sudo_password
        self._rooting = None if reference is None else self._by_password(reference)

    def run(self, command: Command) -> Result:
        """Run one command; raises HostError, NotSentError, ConnectionLost, or StepError for an unreadable answer."""
        exchange = Exchange(self._name, self._host, command)
        with self._room:
            client = self._connected()
            try:
                return self._answered(client, exchange)
            except _BROKEN as error:
                self._drop(client)
                raise exchange.lost(str(error) or "connection closed") from error
            except ConnectionLost:
                self._drop(client)
                raise

    def close(self) -> None:
        """Close the connection, if there is one."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def _in_kept_shell(self, command: Command) -> bool:
        """Return whether a persistent shell can run it: a repeatable command without input, not through a gate."""
        gated = command.sudo and self._host.sudo and self._host.gate is not None
        return command.repeatable and command.stdin is None and not command.alone and not gated

    def _answered(self, client: paramiko.SSHClient, exchange: Exchange) -> Result:
        result = self._exchanged(client, exchange)
        return self._exchanged(client, exchange) if self._is_to_ask(result) else result

    def _exchanged(self, client: paramiko.SSHClient, exchange: Exchange) -> Result:
        done = self._turn(client, exchange) if self._in_kept_shell(exchange.command) else None
        return done or self._alone(client, exchange)

    def _is_to_ask(self, result: Result) -> bool:
        """Return whether a command did not run for want of a password that somebody has typed by now."""
        at = self._host
        if at.ssh.sudo_password is not None or not (result.command.sudo and at.sudo and lacks_password(result)):
            return False
        rooting = self._by_password(None)
        if not rooting.password.is_known(self._name):
            return False
        self._rooting = rooting
        return True

    def _by_password(self, reference: SecretRef | None) -> Rooting:
        return Rooting(self._name, password("sudo password", self._host.user, reference))

    def _rooting_of(self, command: Command) -> Rooting | None:
        return self._rooting if command.sudo and self._host.sudo else None

    def _alone(self, client: paramiko.SSHClient, exchange: Exchange) -> Result:
        with self._session(client) as channel:
            return exchange.alone(channel, self._rooting_of(exchange.command))

    def _turn(self, client: paramiko.SSHClient, exchange: Exchange) -> Result | None:
        """Run in a persistent shell, old or new; None if there is none, for example because sudo allows no shell."""
        root = exchange.command.sudo and self._host.sudo
        shell = self._shells.take(client, root=root) or self._fresh_shell(client, root=root)
        if shell is None:
            return None
        done = None
        try:
            done = exchange.turn(shell, lambda: self._session(client).close())
        finally:
            if done is None:
                shell.close()
            else:
                self._shells.give(shell, root=root)
        return done

    def _fresh_shell(self, client: paramiko.SSHClient, *, root: bool) -> paramiko.Channel | None:
        """Start a shell; None if sudo, which has asked for a password, allows none."""
        shell = self._session(client)
        if not root or self._rooting is None:
            shell.exec_command(wrap.shell(root=root))  # nosec B601
            return shell
        marks, ended = wrap.RootMarks(), True
        try:
            ended = self._rooting.start(shell, wrap.shell(root=True, marks=marks), marks).at_end
        finally:
            if ended:
                shell.close()
        return None if ended else shell

    def _connected(self) -> paramiko.SSHClient:
        with self._lock:
            transport = self._client.get_transport() if self._client else None
            if self._client is None or transport is None or not transport.is_active():
                self._client = self._gateways.login(self._name, self._host)
            return self._client

    def _drop(self, client: paramiko.SSHClient) -> None:
        """Close a broken connection, but not the new one that another thread may have opened."""
        with self._lock:
            client.close()
            if self._client is client:
                self._client = None

    def _session(self, client: paramiko.SSHClient) -> paramiko.Channel:
        transport = client.get_transport()
        try:
            if transport is None:
                raise EOFError("connection closed")
            return transport.open_session(timeout=SLACK)
        except _BROKEN as error:
            if transport is not None and transport.is_active() and _refused(error):
                self._shells.clear()  # perhaps too many sessions: the connection itself is fine
            else:
                self._drop(client)
            raise NotSentError from error


def _refused(error: Exception) -> bool:
    """Return True if the server refused a session.

    The connection has one place for the reason: of several that are refused at once, one thread finds it.
    """
    return isinstance(error, paramiko.ChannelException) or str(error) == "Unable to open channel."
