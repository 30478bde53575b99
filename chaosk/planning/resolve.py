"""Aiming: an entry's symbolic targets become nodes, and its step becomes a fault with nothing symbolic left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType

from chaosk.core.errors import StepError
from chaosk.hosts.localhost import boot_id
from chaosk.spec.contracts.live import Live
from chaosk.spec.contracts.step import Fault, Site
from chaosk.spec.contracts.target import Node, Scene
from chaosk.spec.entity import Entity
from chaosk.spec.expression import parse_target
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry
from chaosk.spec.topic_shape import TopicShape

Aims = Mapping[str, tuple[Node, ...]]
"""By target expression the nodes it names."""
Former = Mapping[Entity, Mapping[str, str]]
"""By what it is of, the settings that were made there."""
Shapes = Mapping[str, TopicShape]
"""Topics by name."""


def aim(entry: Entry, inventory: Inventory, live: Live, seed: int, run_id: str) -> Fault:
    """Resolve an entry's targets as the cluster is now and freeze what its step will do.

    The draw of ``random`` targets depends on the seed and the entry's name alone. Raises StepError where a target is
    nothing at the moment: a fault without a target must not pass for one that did no harm.
    """
    scene = Scene(inventory, live, Random(f"{seed}/{entry.name}"))  # noqa: S311 - repeatable, not secret
    aims: dict[str, tuple[Node, ...]] = {}
    for text in entry.step.targets():
        nodes = parse_target(text).resolve(scene)
        if not nodes:
            raise StepError(f"{entry.name}: the target {text!r} is nothing at the moment")
        aims[text] = nodes
    return freeze(entry, inventory, aims, run_id, former(entry, inventory, aims, live), shapes(entry, live))


def former(entry: Entry, inventory: Inventory, aims: Aims, live: Live) -> Former:
    """What is set now, of all whose settings an entry's step changes; raises ClusterError where nobody tells."""
    return {one.of: live.settings(one.of) for one in entry.step.changes(_site(entry, inventory, aims, ""))}


def shapes(entry: Entry, live: Live) -> Shapes:
    """How the topics are now that an entry's step makes again; raises ClusterError where nobody tells."""
    return {topic: live.topic_shape(topic) for topic in entry.step.remakes()}


def freeze(
    entry: Entry, inventory: Inventory, aims: Aims, run_id: str, before: Former = MappingProxyType({}),
    topics: Shapes = MappingProxyType({}),
) -> Fault:  # fmt: skip
    """What an entry's step will do to the nodes that its targets are; raises StepError if it cannot be done to them.

    ``before``: what was set before, of that whose settings it changes; ``topics``: how those were that it makes again.
    """
    site = replace(_site(entry, inventory, aims, run_id), former=before, topics=topics)
    step = entry.step
    return Fault(
        name=entry.name,
        step=entry.kind,
        targets=site.nodes(*aims),
        aimed=step.aimed(site),
        before=tuple(step.before(site)),
        inject=tuple(step.inject(site)),
        verify=tuple(step.verify(site)),
        watch=tuple(step.watch(site)) if step.lasting else (),
        undo=tuple(step.undo(site)),
        healed=tuple(step.healed(site)),
        harm=tuple(step.harm(site)),
        holds=tuple(step.holds(site)),
        tidy=tuple(step.tidy(site)),
        down=tuple(step.down(site)),
    )


def _site(entry: Entry, inventory: Inventory, aims: Aims, run_id: str) -> Site:
    return Site(inventory=inventory, run_id=run_id, entry=entry.name, aims=aims, boot_id=boot_id())
