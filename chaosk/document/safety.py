"""Scenarios that are refused for any cluster: excessive harm, cutting SSH, topics of others, contradictions."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.cluster.targets.controller import ControllerTarget
from chaosk.cluster.targets.host import OneHost
from chaosk.cluster.targets.zookeeper import OneZooKeeper
from chaosk.document.draft import INTERNAL_TOPICS, Draft
from chaosk.document.nodes import Path
from chaosk.document.parse import Found
from chaosk.hosts.firewall.party import SSH
from chaosk.spec.contracts.target import Target
from chaosk.spec.expression import ExpressionError, parse_target, render
from chaosk.spec.scenario import Entry
from chaosk.spec.timing import stays
from chaosk.steps._between import Between
from chaosk.steps._probe_steps import ProbeStep
from chaosk.steps._service_steps import ServiceStep
from chaosk.steps.cancel_reassignment import CancelReassignment
from chaosk.steps.create_partitions import CreatePartitions
from chaosk.steps.deny_access import DenyAccess
from chaosk.steps.elect_leader import ElectLeader
from chaosk.steps.reassign_partitions import ReassignPartitions
from chaosk.steps.recreate_topic import RecreateTopic
from chaosk.steps.restart import RestartServer
from chaosk.steps.set_topic_config import SetTopicConfig
from chaosk.steps.start import StartServer

_LIMITS = {
    "brokers": ("all_brokers",),
    "zookeepers": ("zookeeper_majority",),
    "controllers": ("controller_majority",),
    "hosts": ("all_brokers", "zookeeper_majority"),
}
"""Targets that name all nodes of a kind, with the limits of harm that are exceeded if they fail together."""
_EVERY = {"broker": "brokers", "zookeeper": "zookeepers", "controller": "controllers", "host": "hosts"}
"""Kinds of targets that name one node, with the target that names all nodes."""
_EVERYONE = "everyone_else"


def unsafe(draft: Draft) -> Iterator[Found]:
    """Yield the steps that are unsafe on every cluster."""
    for name in draft.topics:
        if name.startswith("__"):
            yield draft.at_key(("topics", name), "names that begin with __ are Kafka's own; choose another name")
    for turn, entry in zip(draft.turns, draft.entries, strict=True):
        if entry is not None:
            yield from _one(draft, (*turn.path, entry.kind), entry)
    yield from _contradictions(draft)


def _one(draft: Draft, path: Path, entry: Entry) -> Iterator[Found]:
    step = entry.step
    if isinstance(step, ElectLeader) and step.election == "unclean" and step.topic in INTERNAL_TOPICS:
        yield draft.at((*path, "topic"), "an unclean election can lose data of others; name a topic of the scenario")
    owned = SetTopicConfig | CreatePartitions | RecreateTopic | DenyAccess | ReassignPartitions | CancelReassignment
    if isinstance(step, owned) and step.topic in INTERNAL_TOPICS:
        yield draft.at((*path, "topic"), "all clients share it, so it may not be changed; name a topic of the scenario")
    if isinstance(step, CreatePartitions):
        yield from _fewer(draft, path, step)
    if isinstance(step, Between) and SSH in (step.ports or ()):
        where = (*path, "ports", (step.ports or ()).index(SSH))
        yield draft.at(where, f"port {SSH} is SSH, by which chaosk heals, and is never cut; remove it")
    for text in _at_once(entry):
        told = _rendered(text)
        missing = [limit for limit in _LIMITS.get(told or "", ()) if limit not in _lifted(draft)]
        if missing:
            names = ", ".join(f"{limit}: WHY" for limit in missing)
            what = f"that is all of them at once; aim at fewer, or, if it is meant, write `allow: {{{names}}}`"
            yield draft.at(draft.holds(path, text), what)


def _fewer(draft: Draft, path: Path, step: CreatePartitions) -> Iterator[Found]:
    shape = draft.topics.get(step.topic)
    if shape is not None and step.count <= shape.partitions:
        what = f"{step.topic} has {shape.partitions} already, and none can be taken away"
        yield draft.at((*path, "count"), f"{what}; write {shape.partitions + 1} or more")


def _lifted(draft: Draft) -> frozenset[str]:
    """Return the lifted limits; lifting the controllers' majority lifts ZooKeeper's, which KRaft does not have."""
    if draft.allow is None:
        return frozenset({*_LIMITS["hosts"], *_LIMITS["controllers"]})
    lifted = frozenset(draft.allow.reasons())
    return lifted | {"zookeeper_majority"} if "controller_majority" in lifted else lifted


def _at_once(entry: Entry) -> tuple[str, ...]:
    """Return the targets whose nodes a step takes away at the same time."""
    if isinstance(entry.step, ServiceStep) and not isinstance(entry.step, RestartServer | StartServer):
        return entry.step.targets()
    if isinstance(entry.step, Between) and _EVERYONE in map(_rendered, entry.step.targets()):
        return entry.step.targets()
    return ()


def _contradictions(draft: Draft) -> Iterator[Found]:
    times = stays(draft.entries)
    entries = zip(draft.turns, draft.entries, strict=True)
    known = [(turn.path, e, times[e.name]) for turn, e in entries if e is not None and e.name in times]
    for number, (_, one, stay) in enumerate(known):
        for path, two, later in known[number + 1 :]:
            if not (stay.meets(later) or later.meets(stay)) or one.kind in two.step.ends or two.kind in one.step.ends:
                continue
            shared = sorted(f"{a}" for a in _holds(one) for b in _holds(two) if _same(a, b))
            if shared:
                what = f"{one.name} still affects {shared[0]} at that time; let one end before the other starts"
                yield draft.at_key((*path, two.kind), what)


def _holds(entry: Entry) -> set[str]:
    """Return the targets that an entry changes, as far as its text determines them."""
    step = entry.step
    if isinstance(step, ServiceStep | ProbeStep):
        return {told for text in step.targets() if (told := _rendered(text)) is not None}
    if isinstance(step, Between):
        a, b = ({_rendered(text) for text in group} for group in step.between)
        return {" and ".join(sorted((x, y))) for x in a if x is not None for y in b if y is not None}
    return set()


def _same(one: str, two: str) -> bool:
    """Return True if both surely overlap: the same text, or one node and all nodes of its kind."""
    return one == two or _EVERY.get(one.partition("(")[0]) == two or _EVERY.get(two.partition("(")[0]) == one


def _rendered(text: str) -> str | None:
    """Return the canonical spelling of a target that always resolves the same; None for any other or invalid text."""
    try:
        target = parse_target(text)
    except ExpressionError:
        return None
    if isinstance(target, OneHost) and target.nested():
        inner = _rendered(target.of)
        return None if inner is None else f"host({inner})"
    return render(target) if _fixed(target) else None


def _fixed(target: Target) -> bool:
    named = isinstance(target, OneHost) or (
        isinstance(target, OneZooKeeper | ControllerTarget) and target.node.isdigit()
    )
    return named or type(target).static
