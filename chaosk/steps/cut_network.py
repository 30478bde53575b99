"""Cut the network between two groups.

Injection, verification and undo are those of the base class, :mod:`chaosk.steps._between`.
"""

from __future__ import annotations

from typing import ClassVar

from chaosk.hosts.firewall.rules import Action
from chaosk.steps._between import Between


class CutNetwork(Between):
    """Stop all packets between two groups, also those of established connections; SSH to the hosts stays open.

    A group is hosts, brokers, controllers, ZooKeeper nodes, listeners or probes, or ``everyone else``: all that are not
    in the other group. Between hosts all packets are stopped; for a process only those of connections to and from the
    ports that it serves. All probes share chaosk's machine, so a cut from one is a cut from all. It takes once the
    rules come first in the packet filter of each host, and a connection across the cut is not accepted: one is tried
    for each host of the first group, where servers of the other group are known. Both are verified again before the
    undo.
    """

    what: ClassVar[str] = "the cut"
    example: ClassVar[str] = """\
at: 10s
cut_network: {between: ["host(leader(orders, 0))", everyone else]}
for: 30s
"""

    action: Action = "drop"
    """``drop``: silence, as with a cut cable. ``reject``: immediate refusal, as by a firewall."""

    def how(self) -> Action:
        """Return the action."""
        return self.action
