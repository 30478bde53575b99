"""Examination of hosts for the steps' own requirements, for each broker that a target may resolve to."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.core.errors import ChaoskError, StepError
from chaosk.core.parallel import parallel_map
from chaosk.hosts.localhost import boot_id
from chaosk.hosts.transport._contract import Transport
from chaosk.planning.example_cluster import NoCluster, OnlyLiveError
from chaosk.planning.safety import NoChance
from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Fact, Site
from chaosk.spec.contracts.target import Node, Scene, servers, voters
from chaosk.spec.expression import parse_target
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry, Scenario

_TODO = "correct the inventory, aim at servers whose hosts can do it, or leave the step out"


def suits(transport: Transport, inventory: Inventory, scenario: Scenario | None) -> tuple[Diagnostic, ...]:
    """Return the findings by entry; changes nothing."""
    entries = scenario.timeline if scenario is not None else ()
    asked = [(entry, fact) for entry in entries for fact in _facts(entry, inventory)]
    return tuple(parallel_map(lambda one: _answer(transport, *one), asked)) if asked else ()


def _facts(entry: Entry, inventory: Inventory) -> Iterator[Fact | str]:
    """Yield the facts to evaluate for each node, or the reason why there are none."""
    for nodes in _candidates(entry, inventory):
        aims = dict.fromkeys(entry.step.targets(), nodes)
        site = Site(inventory=inventory, run_id="doctor", entry=entry.name, aims=aims, boot_id=boot_id())
        try:
            yield from entry.step.suits(site)
        except StepError as error:
            yield str(error)


def _candidates(entry: Entry, inventory: Inventory) -> tuple[tuple[Node, ...], ...]:
    """Return the nodes that the inventory determines, as one group; else each possible node as its own group."""
    if not entry.step.targets():
        return ((),)
    scene = Scene(inventory, NoCluster(), NoChance())
    try:
        known = [node for text in entry.step.targets() for node in parse_target(text).resolve(scene)]
    except OnlyLiveError:
        return tuple((node,) for node in _possible(entry, inventory))
    return (tuple(known),)


def _possible(entry: Entry, inventory: Inventory) -> Iterator[Node]:
    """Yield each server of the kinds that the step acts on; brokers by default."""
    if getattr(entry.step, "role", None) == "controller":
        yield from voters(inventory)
        return
    kinds = entry.step.takes() & {"broker", "zookeeper"} or {"broker"}
    yield from (node for node in servers(inventory) if node.kind in kinds)


def _answer(transport: Transport, entry: Entry, fact: Fact | str) -> Diagnostic:
    if isinstance(fact, str) or not isinstance(fact.query, Command):
        return bad("scenario", entry.kind, str(fact), _TODO)
    query = fact.query
    try:
        result = transport.run(query)
    except ChaoskError as error:
        return bad(query.host, entry.kind, str(error), "see that it answers, then ask again")
    if result.ok:
        return ok(query.host, entry.kind, fact.says)
    return bad(query.host, entry.kind, f"not so: {fact.says}: {result.said}", _TODO)
