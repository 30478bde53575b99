"""A cluster of three on paper, and steps read as a user writes them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import yaml
from sample_inventory import INVENTORY

from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Deed, Fact, Run, Site, Step
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import steps

BROKERS = tuple(Node(kind="broker", id=str(n), host=f"node{n + 1}") for n in (0, 1, 2))
ZOOKEEPERS = tuple(Node(kind="zookeeper", id=str(n), host=f"node{n}") for n in (1, 2, 3))
HOSTS = tuple(Node(kind="host", id=f"node{n}", host=f"node{n}") for n in (1, 2, 3))
PROBES = Node(kind="probe", id="*")
EVERYONE = Node(kind="everyone_else", id="")


@pytest.fixture(scope="session")
def inventory() -> Inventory:
    """Brokers 0 to 2 and ZooKeeper nodes 1 to 3 on node1 to node3."""
    return INVENTORY


def step(text: str) -> Step:
    """A step as it is written in a scenario, like ``kill_broker: {target: broker 1}``."""
    ((kind, fields),) = yaml.safe_load(text).items()
    return steps()[kind].model_validate(fields)


def site(inventory: Inventory, **aims: Iterable[Node]) -> Site:
    """Where a step acts; dashes and blanks in target expressions are written as underscores."""
    return Site(inventory, "run-1", "entry", {text.replace("_", " "): tuple(nodes) for text, nodes in aims.items()})


def told(deeds: Iterable[Deed | Fact]) -> list[str]:
    """Each deed or fact in a few words: ``node1: start``, ``broker_up(1)``, ``pause 5``."""
    return [_told(deed) for deed in deeds]


def _told(deed: Deed | Fact) -> str:
    if isinstance(deed, Run):
        return f"{deed.command.host}: {deed.command.argv[4]}"
    if isinstance(deed, Fact):
        query = deed.query
        return f"{query.host}: {query.argv[4]}" if isinstance(query, Command) else str(query)
    return " ".join(str(value) for value in deed.model_dump(exclude_none=True).values())
