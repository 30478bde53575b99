"""Differences between an inventory and what a search has found, each with its line. Pure.

Only what was learned is compared. An inventory has more: power switches, gates, stop conditions; and an operator may
leave out optional keys. Commands that start and stop a server are not compared, because a search infers them from
names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chaosk.discovery.findings import Learned, Place, Value
from chaosk.discovery.merge import SERVER_BLOCKS, InventoryDraft
from chaosk.document import nodes
from chaosk.document.nodes import Node, descend

_OPTIONAL = ("config", "data", "log", "peer_ports")
_INFERRED = ("start", "stop")
_DEFAULTS: Mapping[tuple[str, str], Value] = {
    ("controllers", "port"): 9093,
    ("zookeepers", "client_port"): 2181,
}
_PEER_PORTS = (2888, 3888)


@dataclass(frozen=True, slots=True, order=True)
class DriftLine:
    """One difference."""

    line: int
    """In the inventory, from 1: of the value, or of the block in which it is missing."""
    path: str
    what: str


def differences(own: Node, draft: InventoryDraft, *, all_brokers: bool) -> tuple[DriftLine, ...]:
    """Return the differences of an inventory, in its order.

    ``all_brokers``: True if the cluster itself has named its servers, so that others are gone.
    """
    found = [one for place in draft.servers() for one in _of_server(own, draft, place)]
    if all_brokers:
        found += _gone(own, draft)
    return tuple(sorted(set(found)))


def _of_server(own: Node, draft: InventoryDraft, server: Place) -> Iterator[DriftLine]:
    node = descend(own, server)
    facts = [fact for place, fact in draft.facts.items() if place[:2] == server]
    if node is None:
        host = draft.facts.get((*server, "host"))
        at = f" on {host.value}" if host is not None else ""
        yield _difference(own, server, f"is not here, and the cluster has it{at}")
        return
    for fact in facts:
        yield from _of_fact(own, fact)
    for name in _listeners(node):
        if any(fact.place[2] == "listeners" for fact in facts) and not any(
            fact.place[2:4] == ("listeners", name) for fact in facts
        ):
            yield _difference(own, (*server, "listeners", name), "is here, and the broker has no such listener")
    for (role, key), usual in _DEFAULTS.items():
        value = descend(own, (*server, key))
        if role == server[0] and value is not None and (*server, key) not in draft.facts and facts:
            yield from _compared(own, (*server, key), nodes.plain(value), Learned((*server, key), usual, "the default"))


def _of_fact(own: Node, fact: Learned) -> Iterator[DriftLine]:
    place = fact.place
    if place[2] == "service" and (place[-1] in _INFERRED or descend(own, place) is None):
        yield from _other_service(own, fact)
        return
    node = descend(own, place)
    if node is None:
        usual = _DEFAULTS.get((place[0], place[-1]), _PEER_PORTS if place[-1] == "peer_ports" else None)
        if place[2] in _OPTIONAL and place[-1] != "peer_ports":
            return
        if place[-1] == "clients":
            usual = True
        if usual != fact.value:
            yield _difference(own, place, f"{_said(usual)} here, {_said(fact.value)} found ({fact.source})")
        return
    yield from _compared(own, place, nodes.plain(node), fact)


def _other_service(own: Node, fact: Learned) -> Iterator[DriftLine]:
    """Yield that one side has a unit and the other scripts."""
    service = (*fact.place[:2], "service")
    unit = descend(own, (*service, "systemd"))
    if fact.place[-1] == "systemd" and unit is None:
        yield _difference(own, service, f"scripts here, the unit {fact.value} found ({fact.source})")
    elif fact.place[-1] == "pid_file" and isinstance(unit, nodes.Scalar):
        yield _difference(own, service, f"the unit {unit.text} here, the pid file {fact.value} found ({fact.source})")


def _compared(own: Node, place: Place, here: object, fact: Learned) -> Iterator[DriftLine]:
    same = _as_set(here) == _as_set(fact.value) if place[-1] == "data" else _plain(here) == _plain(fact.value)
    if not same:
        yield _difference(own, place, f"{_said(here)} here, {_said(fact.value)} found ({fact.source})")


def _gone(own: Node, draft: InventoryDraft) -> Iterator[DriftLine]:
    known = draft.servers()
    for role in SERVER_BLOCKS:
        block = descend(own, (role,))
        for number in block.values if isinstance(block, nodes.Mapping) else ():
            if (role, number) not in known:
                yield _difference(own, (role, number), "is here, and nothing names it: it is down, or gone")


def _listeners(node: Node) -> tuple[str, ...]:
    listed = descend(node, ("listeners",))
    return tuple(listed.values) if isinstance(listed, nodes.Mapping) else ()


def _difference(own: Node, place: Place, what: str) -> DriftLine:
    line = 1
    at: Node | None = own
    for step in place:
        if not isinstance(at, nodes.Mapping) or step not in at.values:
            break
        line, at = at.keys[step].line, at.values[step]
    return DriftLine(line, ".".join(place), what)


def _plain(value: object) -> object:
    return tuple(value) if isinstance(value, list | tuple) else value


def _as_set(value: object) -> frozenset[object]:
    items = value if isinstance(value, list | tuple) else [value]
    return frozenset(str(item).rstrip("/") for item in items)


def _said(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
