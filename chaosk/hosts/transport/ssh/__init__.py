"""Commands over SSH: one persistent connection a host, shared by threads. Only this package imports paramiko.

Host keys are checked strictly, without an option to accept an unknown one, on every jump host as well. A configuration
of ssh(1) is read only where the inventory names it. A broken connection is replaced. A command is retried only if it
was not sent yet or is repeatable; for any other the outcome is unknown, and ConnectionLost is raised. Any exit status
is an answer and causes no retry.
"""

from __future__ import annotations

from collections.abc import Mapping

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from chaosk.core.errors import ConnectionLost, HostError, StepError
from chaosk.hosts.transport._contract import Transport
from chaosk.hosts.transport.ssh.connection import NotSentError, SshConnection
from chaosk.hosts.transport.ssh.gateways import Gateways
from chaosk.spec.command import Command, Result
from chaosk.spec.inventory import Host

__all__ = ["Ssh", "Transport"]


class Ssh:
    """The transport to an inventory's hosts."""

    def __init__(self, hosts: Mapping[str, Host]) -> None:
        """Connect lazily, at the first command."""
        self._gateways = Gateways()
        self._links = {name: SshConnection(name, host, self._gateways) for name, host in hosts.items()}

    def run(self, command: Command) -> Result:
        """See :meth:`Transport.run`."""
        link = self._links.get(command.host)
        if link is None:
            raise StepError(f"{command.host}: no such host; the inventory has {', '.join(self._links)}")
        broken = (NotSentError, ConnectionLost) if command.repeatable else (NotSentError,)
        tries = Retrying(
            retry=retry_if_exception_type(broken), stop=stop_after_attempt(3), wait=wait_exponential(0.1), reraise=True
        )
        try:
            return tries(link.run, command)
        except NotSentError as error:
            raise HostError(command.host, f"the SSH connection breaks again and again: {error.__cause__}") from error

    def close(self) -> None:
        """See :meth:`Transport.close`."""
        for link in self._links.values():
            link.close()
        self._gateways.close()
