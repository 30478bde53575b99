"""Limits of harm, counted over all faults that are in place at the same time. Pure.

Five limits hold unless the scenario lifts them. Each has the name of its field in :class:`chaosk.spec.allow.Allow`:

- ``zookeeper_majority``: a majority of the ZooKeeper nodes stays connected.
- ``controller_majority``: in KRaft, a majority of the controllers does.
- ``all_brokers``: at least one broker stays.
- ``foreign_under_min_isr``: a topic of others does not fall below its ``min.insync.replicas``.
- ``foreign_loss``: a topic of others does not lose the records of all its in-sync replicas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from chaosk.spec.allow import Allow
from chaosk.spec.contracts.live import ForeignPartition, PartitionState
from chaosk.spec.contracts.target import Node, servers, voters
from chaosk.spec.harm import Harm
from chaosk.spec.inventory import Inventory

Moments = tuple[Harm, ...]
"""Harm of one fault, moment by moment: a rolling restart has one value for each node. Empty: no harm."""
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Excess:
    """An exceeded limit of harm."""

    limit: str
    """Its name in ``allow``."""
    says: str


def excesses(
    inventory: Inventory, standing: Sequence[Moments], new: Moments, foreign: Sequence[ForeignPartition]
) -> tuple[Excess, ...]:
    """Return the limits that ``new`` would exceed together with ``standing`` faults; each once, at its first moment."""
    found: dict[str, Excess] = {}
    if not new:
        return ()
    for before in product(*(moments or (Harm(),) for moments in standing)):
        old = _Remains(inventory, before)
        for harm in new:
            for excess in _passed(old, _Remains(inventory, (*before, harm)), foreign):
                found.setdefault(excess.limit, excess)
    return tuple(found.values())


def forbidden(found: Iterable[Excess], allow: Allow) -> str | None:
    """Return the reason for refusing a fault, with the text that allows it; None if the scenario allows all of it."""
    told = [excess for excess in found if excess.limit not in allow.reasons()]
    if not told:
        return None
    says = "; ".join(excess.says for excess in told)
    names = ", ".join(f"{excess.limit}: WHY" for excess in told)
    return f"{says}; aim at fewer, or, if it is meant, write `allow: {{{names}}}` in the scenario"


class _Remains:
    """The remaining cluster under some harm."""

    def __init__(self, inventory: Inventory, harms: Sequence[Harm]) -> None:
        self._away = {node for harm in harms for node in harm.away}
        self._wiped = {int(node.id) for harm in harms for node in harm.wiped}
        self._severed = {frozenset(pair) for harm in harms for pair in harm.severed}
        every = servers(inventory)
        self.brokers = [node for node in every if node.kind == "broker"]
        self.keepers = [node for node in every if node.kind == "zookeeper"] or list(voters(inventory))
        together = self._together(self.keepers)
        self.quorum = 2 * len(together) > len(self.keepers)
        self.present = self._together([one for one in self.brokers if self._in_touch(one, together)])

    def linked(self, one: Node, two: Node) -> bool:
        """Return True if both nodes are present and can communicate."""
        return not {one, two} & self._away and (one == two or frozenset((one, two)) not in self._severed)

    def in_sync(self, partition: PartitionState) -> int:
        """Return the number of in-sync replicas that stay in sync: present, and connected to the leader."""
        there = {int(node.id): node for node in self.present}
        alive = [number for number in partition.isr if number in there]
        if not alive:
            return 0
        heirs = [number for number in partition.replicas if number in alive] or alive
        leader = there[partition.leader if partition.leader in alive else heirs[0]]
        return sum(self.linked(leader, there[number]) for number in alive)

    def kept(self, partition: PartitionState) -> bool:
        """Return True if at least one in-sync replica still has its records."""
        return bool(set(partition.isr) - self._wiped)

    def _together(self, nodes: list[Node]) -> list[Node]:
        """Return the largest set of nodes that one of them reaches, itself included: all that a leader needs."""
        groups = [[two for two in nodes if self.linked(one, two)] for one in nodes]
        return max(groups, key=len, default=[])

    def _in_touch(self, broker: Node, keepers: list[Node]) -> bool:
        """Return True if a broker keeps its session. Without a quorum none loses it: that is not counted twice."""
        return not (self.quorum and keepers) or any(self.linked(broker, one) for one in keepers)


def _passed(old: _Remains, new: _Remains, foreign: Sequence[ForeignPartition]) -> Iterator[Excess]:
    if new.keepers and old.quorum and not new.quorum:
        zookeeper = new.keepers[0].kind == "zookeeper"
        limit, noun = ("zookeeper_majority", "ZooKeeper nodes") if zookeeper else ("controller_majority", "controllers")
        yield Excess(limit, f"it would leave no majority of the {len(new.keepers)} {noun}")
    if old.present and not new.present:
        yield Excess("all_brokers", f"it would leave none of the {len(new.brokers)} brokers")
    starved = list(_starved(old, new, foreign))
    if starved:
        says = "it would take topics that are not the scenario's below min.insync.replicas: "
        yield Excess("foreign_under_min_isr", says + _listed(starved))
    lost = [one.state for one in foreign if old.kept(one.state) and not new.kept(one.state)]
    if lost:
        says = "it would wipe out all replicas in sync of topics that are not the scenario's: "
        yield Excess("foreign_loss", says + _listed([f"{one.topic}-{one.partition}" for one in lost]))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _starved(old: _Remains, new: _Remains, foreign: Sequence[ForeignPartition]) -> Iterator[str]:
    for one in foreign:
        before, after = old.in_sync(one.state), new.in_sync(one.state)
        if after < before and after < one.least:
            yield f"{one.state.topic}-{one.state.partition} ({after} in sync, {one.least} needed)"
