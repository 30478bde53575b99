"""The connection to one host: made when needed, kept, shared by threads, made anew when it broke."""

from __future__ import annotations

import threading

import paramiko

from chaosk.core.errors import ConnectionLost
from chaosk.hosts.transport import wrap
from chaosk.hosts.transport.ssh.exchange import SLACK, Exchange
from chaosk.hosts.transport.ssh.login import login
from chaosk.hosts.transport.ssh.shells import Shells
from chaosk.spec.command import Command, Result
from chaosk.spec.inventory import Host

SESSIONS = 8
"""Commands at the same time on one connection; sshd allows 10 sessions unless told otherwise (MaxSessions), and two
shells are kept."""
_BROKEN = (paramiko.SSHException, OSError, EOFError)


class NotSentError(Exception):
    """The connection broke before the command was handed over: it did not run. The cause says why."""


class Link:
    """One host's connection."""

    def __init__(self, name: str, host: Host) -> None:
        """``name`` is the inventory's name of the host, for messages."""
        self._name = name
        self._host = host
        self._client: paramiko.SSHClient | None = None
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(SESSIONS)
        self._shells = Shells()

    def run(self, command: Command) -> Result:
        """Run one command; raises HostError, NotSentError, ConnectionLost or StepError (what came is no answer)."""
        exchange = Exchange(self._name, self._host, command)
        with self._room:
            client = self._connected()
            try:
                done = self._turn(client, exchange) if self._in_kept_shell(command) else None
                return done or self._alone(client, exchange)
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
        """Only what may be done again if the connection turns out to be dead, and what no gate has to look at."""
        gated = command.sudo and self._host.sudo and self._host.gate is not None
        return command.repeatable and command.stdin is None and not command.alone and not gated

    def _alone(self, client: paramiko.SSHClient, exchange: Exchange) -> Result:
        with self._session(client) as channel:
            return exchange.alone(channel)

    def _turn(self, client: paramiko.SSHClient, exchange: Exchange) -> Result | None:
        """In a shell that is kept, or will be; None if none can be had: where sudo allows no shell, for example."""
        root = exchange.command.sudo and self._host.sudo
        shell = self._shells.take(client, root=root)
        if shell is None:
            shell = self._session(client)
            shell.exec_command(wrap.shell(root=root))  # nosec B601
        done = None
        try:
            done = exchange.turn(shell, lambda: self._session(client).close())
        finally:
            if done is None:
                shell.close()
            else:
                self._shells.give(shell, root=root)
        return done

    def _connected(self) -> paramiko.SSHClient:
        with self._lock:
            transport = self._client.get_transport() if self._client else None
            if self._client is None or transport is None or not transport.is_active():
                self._client = login(self._name, self._host)
            return self._client

    def _drop(self, client: paramiko.SSHClient) -> None:
        """Close a broken connection; a new one that another thread has made already is left alone."""
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
        except paramiko.ChannelException as error:
            self._shells.clear()  # refused, for too many sessions perhaps: the connection itself is fine
            raise NotSentError from error
        except _BROKEN as error:
            self._drop(client)
            raise NotSentError from error
