"""A transport that tells by the way how far the clocks of hosts are off: every answer has their time stamps."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from chaosk.core.errors import ChaoskError
from chaosk.hosts.transport._contract import Transport
from chaosk.hosts.transport.clock import Offset, epoch, offset_of
from chaosk.spec.command import Command, Result

log = structlog.get_logger()

LOOSE = 2_000_000_000
"""Nanoseconds that an answer may have been under way to say anything of a clock."""


class Clocked:
    """Carries commands as another transport does."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.tell: Callable[[Offset], None] | None = None
        """Is told what each answer says of its host's clock, from any thread. Once it fails it is told nothing more."""

    def run(self, command: Command) -> Result:
        """As the other one does: a host that answered has answered, even if that can be told to nobody.

        What is told goes to a disk that may be full. A fault must be undone all the same.
        """
        result = self._transport.run(command)
        tell = self.tell
        if tell is not None and _is_tight(result):
            try:
                tell(offset_of([result], epoch()))
            except ChaoskError as error:
                self.tell = None
                log.warning("clocks of hosts", problem=str(error))
        return result

    def close(self) -> None:
        """As the other one does."""
        self._transport.close()


def _is_tight(result: Result) -> bool:
    """Whether the host's clock went on evenly while the command ran there, and the way was short."""
    under_way = (result.received - result.sent) - (result.host_ended - result.host_started)
    return 0 <= under_way <= LOOSE
