"""Who keeps a cluster's metadata: what contradicts itself in an inventory, and what only one of the modes has. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Where = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Needs:
    """That a step, target or condition makes sense in one mode only."""

    mode: Literal["zookeeper", "kraft"]
    instead: str
    """What to write on a cluster of the other mode."""

    def missing(self, *, kraft: bool) -> str | None:
        """Why it makes no sense on a cluster, and what to write; None if it does."""
        if kraft == (self.mode == "kraft"):
            return None
        return (
            f"{'there is no ZooKeeper in KRaft mode' if kraft else 'that is for KRaft, not ZooKeeper'}; {self.instead}"
        )


def mistakes(document: object) -> Iterator[tuple[Where, str]]:
    """What is wrong about brokers, controllers and ZooKeeper nodes of a plain inventory: where, and what to write.

    What is not of the right shape is passed over: that is told elsewhere.
    """
    brokers, controllers = _entries(document, "brokers"), _entries(document, "controllers")
    for number, broker in brokers.items():
        named, listeners = _get(broker, "controller_listener"), _get(broker, "listeners")
        if isinstance(named, str) and isinstance(listeners, Mapping) and named not in listeners:
            says = f"there is no listener {named!r}; listeners are {', '.join(map(str, listeners))}"
            yield ("brokers", number, "controller_listener"), says
    for number in controllers:
        if number in brokers:
            says = "is the id of a broker, too; if it is the same process, write controller_listener there instead"
            yield ("controllers", number), says
    combined = any(_get(broker, "controller_listener") for broker in brokers.values())
    if _entries(document, "zookeepers") and (controllers or combined):
        yield ("zookeepers",), "metadata is kept by ZooKeeper or by controllers, not by both; leave one of them out"


def _entries(document: object, block: str) -> dict[str, object]:
    found = _get(document, block)
    return {str(key): value for key, value in found.items()} if isinstance(found, Mapping) else {}


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, Mapping) else None
