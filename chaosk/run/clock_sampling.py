"""A transport that measures the clock offsets of hosts from the time stamps of every answer."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from chaosk.core.errors import ChaoskError
from chaosk.hosts.transport._contract import Transport
from chaosk.hosts.transport.clock import Offset, epoch, offset_of
from chaosk.spec.command import Command, Result

log = structlog.get_logger()

LOOSE = 2_000_000_000
"""Maximum nanoseconds on the way for an answer that counts as a clock measurement."""


class ClockSampling:
    """Wraps another transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.tell: Callable[[Offset], None] | None = None
        """Called with the clock offset of each answer's host, from any thread; never again after a failure."""

    def run(self, command: Command) -> Result:
        """Run a command through the wrapped transport; a failure to record its clock offset is ignored.

        The offset is written to a disk that may be full, and a fault must be undone all the same.
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
        """Close the wrapped transport."""
        self._transport.close()


def _is_tight(result: Result) -> bool:
    """Return True if the host's clock ran evenly during the command, and the round trip was short."""
    under_way = (result.received - result.sent) - (result.host_ended - result.host_started)
    return 0 <= under_way <= LOOSE
