"""Lose packets between two groups."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Share
from chaosk.hosts.firewall.rules import Loss
from chaosk.steps._between import Between


class LosePackets(Between):
    """Lose a random share of the packets between two groups; SSH to the hosts loses none.

    Groups and places are as for cut_network: hosts of the first group drop packets from and to the second. A host's own
    kernel notices the drop of an outgoing packet, and retries some tenths of a second later. An incoming packet is lost
    for its sender as on a bad line, so `direction: in` is the more realistic loss. It takes once the rules come first
    in the packet filter, and that is verified again before the undo. It counts as a cut, because the loss that a
    session survives cannot be predicted.
    """

    what: ClassVar[str] = "the loss"
    example: ClassVar[str] = """\
at: 10s
lose_packets: {between: ["host(leader(orders, 0))", everyone else], share: 10 %, direction: in}
for: 30s
"""

    share: Annotated[Share, Field(ge=0.0001, lt=1.0)]
    """Share of the packets in each direction; for all of them use cut_network."""

    def how(self) -> Loss:
        """Return the loss."""
        return Loss(self.share)
