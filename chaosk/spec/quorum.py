"""Keepers of a cluster's metadata: contradictions in an inventory, and features of one mode only. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Where = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RequiredMode:
    """A step, target or condition that makes sense in one mode only."""

    mode: Literal["zookeeper", "kraft"]
    instead: str
    """The replacement on a cluster of the other mode."""

    def missing(self, *, kraft: bool) -> str | None:
        """Return the reason and remedy if it makes no sense on a cluster; None if it does."""
        if kraft == (self.mode == "kraft"):
            return None
        return (
            f"{'there is no ZooKeeper in KRaft mode' if kraft else 'that is for KRaft, not ZooKeeper'}; {self.instead}"
        )


def mistakes(document: object) -> Iterator[tuple[Where, str]]:
    """Yield contradictions between brokers, controllers and ZooKeeper nodes of a plain inventory: path and remedy.

    Parts with a wrong shape are skipped, because they are reported elsewhere.
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
