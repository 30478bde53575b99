"""Lose packets between two groups."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Share
from chaosk.hosts.firewall.rules import Loss
from chaosk.steps._between import Between


class LosePackets(Between):
    """Lose a part of the packets between two groups, each by a draw of its own; SSH to the hosts loses none.

    Groups are as for cut_network, and so are the places: hosts of the first group drop what arrives from the second,
    and what leaves for it. What they drop on its way out their own kernel knows of, and tries again some tenths of a
    second later; what arrives is lost for its sender as on a bad line, so `direction: in` is the purer loss. It takes
    once the rules stand first in the packet filter, and is seen to stand there still before it is undone. It counts as
    a cut, because nobody can say beforehand which loss a session survives.
    """

    what: ClassVar[str] = "the loss"
    example: ClassVar[str] = """\
at: 10s
lose_packets: {between: ["host(leader(orders, 0))", everyone else], share: 10 %, direction: in}
for: 30s
"""

    share: Annotated[Share, Field(ge=0.0001, lt=1.0)]
    """Of the packets in each direction; all of them is a cut_network."""

    def how(self) -> Loss:
        """That share."""
        return Loss(self.share)
