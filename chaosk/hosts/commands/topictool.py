"""Commands that create a topic again, by Kafka's own tool: one constant script, run as root on a host. Pure.

So the host can undo a deletion if chaosk dies.
"""

from __future__ import annotations

from chaosk.hosts.commands import brokertool
from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command
from chaosk.spec.inventory import Inventory
from chaosk.spec.topic_shape import TopicShape


def fits(inventory: Inventory, host: str) -> Command:
    """Check that the host has the tool and its configuration file."""
    return script_command(host, "topic", "fits", *brokertool.tool(inventory), timeout=brokertool.QUICK)


def make(inventory: Inventory, host: str, shape: TopicShape) -> Command:
    """Create the topic if it does not exist; an existing one is not changed."""
    settings = (f"{name}={value}" for name, value in sorted(shape.config.items()))
    words = ("make", *brokertool.place(inventory), shape.topic, _placed(shape), *settings)
    return script_command(host, "topic", *words, timeout=brokertool.SLOW)


def is_there(inventory: Inventory, host: str, shape: TopicShape) -> Command:
    """Check that the topic exists with the same number of partitions, each with a leader."""
    words = ("there", *brokertool.place(inventory), shape.topic, str(len(shape.replicas)))
    return script_command(host, "topic", *words, timeout=brokertool.SLOW)


def _placed(shape: TopicShape) -> str:
    """Return the replica assignment in the tool's syntax, such as ``1:2:0,2:0:1``."""
    return ",".join(":".join(map(str, each)) for each in shape.replicas)
