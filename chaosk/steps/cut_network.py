"""Cut the network between two groups."""

from __future__ import annotations

from typing import ClassVar

from chaosk.hosts.firewall.rules import Action
from chaosk.steps._between import Between


class CutNetwork(Between):
    """Stop all packets between two groups, also those of established connections; SSH to the hosts stays open.

    A group is hosts, brokers, ZooKeeper nodes, listeners or probes, or ``everyone else``: whoever is not in the other
    one. Between hosts everything is cut; for a process only the connections to and from the ports it serves are.
    All probes share chaosk's machine, so a cut from one is a cut from all. It takes once the rules stand first in the
    packet filter of each host, and is seen to stand there still before it is undone.
    """

    what: ClassVar[str] = "the cut"
    example: ClassVar[str] = """\
at: 10s
cut_network: {between: ["host(leader(orders, 0))", everyone else]}
for: 30s
"""

    action: Action = "drop"
    """``drop``: silence, as of a cut cable. ``reject``: refused at once, as by a firewall."""

    def how(self) -> Action:
        """As the field says."""
        return self.action
