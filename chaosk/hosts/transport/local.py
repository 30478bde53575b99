"""Run commands on the machine that runs chaosk, as chaosk's account: the transport to this machine.

Each command gets a separate session and a fixed environment: ``PATH``, ``HOME`` and the folder of leases. It is the
same in a run, in ``chaosk heal`` and in a lease's timer. So a command that works in preflight also works after chaosk
has died.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from chaosk.core.errors import StepError
from chaosk.hosts.localhost import HERE
from chaosk.hosts.transport._contract import Transport
from chaosk.hosts.transport.wrap import GRACE, PATH
from chaosk.spec.command import Command, Result

_CUT = 1024 * 1024
"""Maximum characters of output; the beginning is cut off."""
_SLACK = 3.0


class Local:
    """Runs commands here, with chaosk's own rights."""

    def __init__(self, kept: Path) -> None:
        """Take the folder of leases, see :func:`chaosk.hosts.localhost.kept`."""
        self._environment = {
            "PATH": os.environ.get("PATH") or PATH,
            "HOME": str(Path.home()),
            "LC_ALL": "C",
            "CHAOSK_KEPT": str(kept),
        }

    def run(self, command: Command) -> Result:
        """See :meth:`Transport.run`."""
        words = ("timeout", "-k", str(GRACE), f"{command.timeout:g}", *command.argv)
        began, sent = time.time_ns(), time.monotonic_ns()
        try:
            done = subprocess.run(
                words, input=command.stdin or "", capture_output=True, text=True, errors="replace", check=False,
                timeout=command.timeout + GRACE + _SLACK, env=self._environment, cwd="/", start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise StepError(f"{HERE}: `{command.brief}`: {error}") from error
        return Result(
            command=command, exit_status=done.returncode, stdout=done.stdout[-_CUT:], stderr=done.stderr[-_CUT:],
            sent=sent, received=time.monotonic_ns(), host_started=began, host_ended=time.time_ns(),
        )  # fmt: skip

    def close(self) -> None:
        """See :meth:`Transport.close`."""


class RoutingTransport:
    """The transport to a cluster's hosts and to this machine."""

    def __init__(self, hosts: Transport, kept: Path) -> None:
        """Take the transport to all hosts, and the folder of leases for :class:`Local`."""
        self._hosts = hosts
        self._local = Local(kept)

    def run(self, command: Command) -> Result:
        """See :meth:`Transport.run`."""
        return (self._local if command.host == HERE else self._hosts).run(command)

    def close(self) -> None:
        """See :meth:`Transport.close`."""
        self._hosts.close()
