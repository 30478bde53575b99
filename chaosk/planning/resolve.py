"""Aiming: an entry's symbolic targets become nodes, and its step becomes a concrete fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType

from chaosk.core.errors import StepError
from chaosk.hosts.localhost import boot_id
from chaosk.spec.contracts.live import Live
from chaosk.spec.contracts.step import PreparedFault, Site
from chaosk.spec.contracts.target import Node, Scene
from chaosk.spec.entity import Entity
from chaosk.spec.expression import parse_target
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry
from chaosk.spec.topic_shape import TopicShape

Aims = Mapping[str, tuple[Node, ...]]
"""The resolved nodes by target expression."""
Former = Mapping[Entity, Mapping[str, str]]
"""The settings of each entity that were set on it."""
Shapes = Mapping[str, TopicShape]
"""Topics by name."""


def aim(entry: Entry, inventory: Inventory, live: Live, seed: int, run_id: str) -> PreparedFault:
    """Resolve an entry's targets on the current cluster, and freeze the actions of its step.

    The draw of ``random`` targets depends only on the seed and the entry's name. Raises StepError if a target currently
    resolves to no node, because a fault without a target must not look like one without harm.
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
    """Return the current settings that an entry's step changes; raises ClusterError if there is no answer."""
    return {one.of: live.settings(one.of) for one in entry.step.changes(_site(entry, inventory, aims, ""))}


def shapes(entry: Entry, live: Live) -> Shapes:
    """Return the current shapes of topics that an entry's step recreates; raises ClusterError if there is no answer."""
    return {topic: live.topic_shape(topic) for topic in entry.step.remakes()}


def freeze(
    entry: Entry, inventory: Inventory, aims: Aims, run_id: str, before: Former = MappingProxyType({}),
    topics: Shapes = MappingProxyType({}),
) -> PreparedFault:  # fmt: skip
    """Freeze an entry's step into a fault on resolved targets; raises StepError if they do not support it.

    ``before``: the former settings that it changes; ``topics``: the former shapes of topics that it recreates.
    """
    site = replace(_site(entry, inventory, aims, run_id), former=before, topics=topics)
    step = entry.step
    return PreparedFault(
        name=entry.name,
        step=step.recorded(site),
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
