"""Checks across a scenario: names that must exist, expressions that must parse, mutual exclusions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from chaosk.core.model import Model
from chaosk.core.plugins import name_of
from chaosk.core.suggest import instead
from chaosk.document.draft import INTERNAL_TOPICS, Draft
from chaosk.document.expectations import expectations
from chaosk.document.must_fail import must_fail
from chaosk.document.nodes import Path, spell
from chaosk.document.parse import Found
from chaosk.document.safety import unsafe
from chaosk.probes.consume import Consume
from chaosk.spec.bounds import BOUND_KEYS
from chaosk.spec.contracts.condition import Condition
from chaosk.spec.contracts.step import Step
from chaosk.spec.contracts.target import NodeKind, Target
from chaosk.spec.expression import ExpressionError, inside, kinds, parse_condition, parse_target
from chaosk.spec.metrics import WINDOWS
from chaosk.spec.scenario import After, Entry
from chaosk.spec.topic_settings import RELEASES, SETTINGS, refusal
from chaosk.steps.create_partitions import CreatePartitions
from chaosk.steps.set_topic_config import SetTopicConfig
from chaosk.steps.start_probe import StartProbe
from chaosk.steps.wait import Wait

_OF_PROBES = frozenset({"group", "transactional_id"})
"""Fields of steps and targets whose values are names that probes define."""
_NOUNS = {"to": "topic", "transactional_id": "transactional.id"}
"""Nouns of fields that are not named after their noun."""

Complain = Callable[[tuple[str, ...], str], Found]
"""Creates the complaint about a field, given its path inside the value."""


def references(draft: Draft) -> Iterator[Found]:
    """Yield the mistakes between the parts of a scenario; a mistake in each round is reported once."""
    return iter(dict.fromkeys(_every(draft)))


def _every(draft: Draft) -> Iterator[Found]:
    yield from _names(draft)
    yield from _topics(draft)
    for name, probe in draft.probes.items():
        if probe is not None:
            path: Path = ("probes", name, *_single_key(draft, name))
            yield from _referring(draft, path, probe, frozenset(draft.topics))
            yield from must_fail(draft, path, name, probe)
            if probe.started_by == "step" and not _started(draft, name):
                what = f"nothing starts it; write `start_probe: {{probe: {name}}}` in the timeline, or remove this"
                yield draft.at((*path, "started_by"), what)
    for place, entry in enumerate(draft.entries):
        if entry is not None:
            yield from _entry(draft, place, entry)
    for place, rule in draft.rules.items():
        yield from _referring(draft, ("stop_conditions", place, name_of(type(rule))), rule, frozenset(draft.topics))
    yield from expectations(draft)
    yield from unsafe(draft)


def _single_key(draft: Draft, name: str) -> tuple[str, ...]:
    probe = draft.probes[name]
    return () if probe is None else (name_of(type(probe)),)


def _started(draft: Draft, probe: str) -> bool:
    """Return True if an entry starts a probe, or may be meant to."""
    return any(one is None or (isinstance(one.step, StartProbe) and one.step.probe == probe) for one in draft.entries)


def _names(draft: Draft) -> Iterator[Found]:
    for name, probe in draft.probes.items():
        if name in BOUND_KEYS:
            yield draft.at_key(("probes", name), f"{name!r} has a meaning in `expect`; choose another name")
        if isinstance(probe, Consume) and probe.group is None and name in draft.groups:
            what = "it reads without a group, and a group has its name: their deliveries could not be told apart"
            yield draft.at_key(("probes", name), f"{what}; choose another name")
    taken: dict[str, Path] = {}
    for turn in sorted(draft.turns, key=lambda turn: turn.path):  # all rounds of an entry together, in written order
        path: Path = (*turn.path, "name")
        if turn.written in WINDOWS:
            yield draft.at(path, f"{turn.written!r} is the name of a window; choose another name")
        for name in (turn.written, turn.name):
            first = taken.setdefault(name, turn.path)
            if first != turn.path:
                what = f"{spell(first)} is called {name!r}, too; give each entry a unique name"
                yield draft.at(path, what)
                break


def _topics(draft: Draft) -> Iterator[Found]:
    yield from _colliding(draft)
    for name, topic in draft.topics.items():
        if topic is None:
            continue
        yield from _replicas(draft, name, topic.replication_factor)
        path: Path = ("topics", name, "config")
        yield from _settings(draft, path, topic.config)
        in_sync = topic.config.get("min.insync.replicas")
        if isinstance(in_sync, int) and in_sync > topic.replication_factor:
            what = (
                f"more than the replication_factor {topic.replication_factor}: nothing could be written with acks=all"
            )
            yield draft.at((*path, "min.insync.replicas"), f"{what}; write at most {topic.replication_factor}")


def _colliding(draft: Draft) -> Iterator[Found]:
    """Yield topics that a broker refuses: invalid names, and names that collide in its metrics."""
    taken = {name.replace(".", "_"): name for name in sorted(INTERNAL_TOPICS)}
    for name in draft.topics:
        first = taken.setdefault(name.replace(".", "_"), name)
        if name in (".", ".."):
            yield draft.at_key(("topics", name), f"{name!r} is the name of no topic; choose another name")
        elif first != name:
            what = (
                f"a broker refuses it beside {first!r}: in Kafka's metrics both have one name, as . and _ are the same"
            )
            yield draft.at_key(("topics", name), f"{what} there; choose another name")


def _replicas(draft: Draft, topic: str, factor: int) -> Iterator[Found]:
    """Yield topics with more replicas than brokers, or than the required minimum of brokers."""
    if draft.cluster is None:
        return
    asked, path = draft.cluster.brokers, ("topics", topic, "replication_factor")
    if asked.max is not None and factor > asked.max:
        what = f"replication_factor {factor} on at most {asked.max} brokers (cluster.brokers)"
        yield draft.at(path, f"{what}; write replication_factor: {asked.max}")
    elif factor > asked.min:
        what = f"replication_factor {factor}, and no more than {asked.min} brokers are asked for (cluster.brokers)"
        yield draft.at(path, f"{what}; write at most {asked.min}, or cluster: {{brokers: {{min: {factor}}}}}")


def _settings(draft: Draft, path: Path, config: Mapping[str, object]) -> Iterator[Found]:
    """Yield topic settings that none of the scenario's possible Kafka releases accepts."""
    releases = _releases(draft)
    for setting, value in config.items():
        if (why := refusal(setting, value, releases)) is not None:
            place = (*path, setting)
            unknown = setting not in {name for release in releases for name in SETTINGS[release]}
            yield draft.at_key(place, why) if unknown else draft.at(place, why)


def _releases(draft: Draft) -> frozenset[int]:
    """Return the Kafka releases that the scenario may run on, from its ``cluster`` requirements."""
    shape = draft.cluster
    if shape is not None and shape.versions:
        return frozenset(int(version.partition(".")[0]) for version in shape.versions) & RELEASES or RELEASES
    return frozenset({3}) if shape is not None and shape.mode == "zookeeper" else RELEASES


def _entry(draft: Draft, place: int, entry: Entry) -> Iterator[Found]:
    path = draft.turns[place].path
    step = (*path, entry.kind)
    yield from _triggers(draft, path, place, entry)
    if entry.lasts is not None and not entry.step.lasting:
        yield draft.at_key((*path, "for"), f"{entry.kind} leaves nothing that could be undone; remove `for`")
    yield from _lengths(draft, path, entry)
    if isinstance(entry.step, SetTopicConfig):
        yield from _settings(draft, (*step, "config"), entry.step.config)
    yield from _referring(draft, step, entry.step, frozenset(draft.topics) | INTERNAL_TOPICS)
    for text in dict.fromkeys(entry.step.targets()):
        where = draft.holds(step, text)
        yield from _expression(draft, where, text, parse_target)
        yield from _of_another_kind(draft, where, text, entry)
    if entry.when is not None:
        yield from _expression(draft, (*path, "when"), entry.when, parse_condition)


def _of_another_kind(draft: Draft, path: Path, text: str, entry: Entry) -> Iterator[Found]:
    """Yield a target that cannot resolve to any node kind of the step."""
    try:
        named, wanted = kinds(parse_target(text)), entry.step.takes()
    except ExpressionError:
        return
    if named and wanted and not named & wanted:
        said, done = (" or ".join(_PLURALS[kind] for kind in sorted(each)) for each in (named, wanted))
        like = " or ".join(_EXAMPLES[kind] for kind in sorted(wanted))
        yield draft.at(path, f"{text!r} names {said}, and {entry.kind} is done to {done}; write one like {like}")


_PLURALS: Mapping[NodeKind, str] = {
    "host": "hosts", "broker": "brokers", "zookeeper": "ZooKeeper nodes", "controller": "controllers",
    "probe": "probes", "listener": "listeners", "everyone_else": "everyone else",
}  # fmt: skip
_EXAMPLES: Mapping[NodeKind, str] = {
    "host": "hosts", "broker": "leader(orders, 0)", "zookeeper": "zookeeper leader", "controller": "controller",
    "probe": "probes", "listener": "listener(CLIENT)", "everyone_else": "everyone else",
}  # fmt: skip


def _lengths(draft: Draft, path: Path, entry: Entry) -> Iterator[Found]:
    """Yield zero durations: a fault undone at once, a condition without waiting time, a wait without duration."""
    if entry.lasts == 0:
        yield draft.at(
            (*path, "for"), "0s: undone before it can have an effect; write how long it lasts, like for: 10s"
        )
    if entry.timeout == 0:
        yield draft.at((*path, "timeout"), "0s: no time to wait for `when`; write how long it may take, like 60s")
    if isinstance(entry.step, Wait) and entry.step.duration == 0 and entry.when is None:
        what = "0s: waits for nothing; write how long, like duration: 10s, or `when:` a condition"
        yield draft.at((*path, entry.kind, "duration"), what)


def _triggers(draft: Draft, path: Path, place: int, entry: Entry) -> Iterator[Found]:
    if entry.at is not None and entry.after is not None:
        yield draft.at_key((*path, "after"), "`at` and `after` in one entry; keep one of them")
    if entry.when is None and draft.written((*path, "timeout")):
        yield draft.at_key((*path, "timeout"), "`timeout` limits `when`, which is not here; remove it, or add `when`")
    if entry.after is not None:
        yield from _after(draft, (*path, "after", "entry"), place, entry.after)


def _after(draft: Draft, path: Path, place: int, after: After) -> Iterator[Found]:
    one = draft.turns[place]
    if after.entry not in draft.names:
        if not draft.named(after.entry):
            above = [turn.written for turn in draft.turns[:place] if one.round is None or one.shares_round(turn)]
            what = f"there is no entry {after.entry!r} above this one; {instead(after.entry, above)}"
            yield draft.at(path, what)
        return
    number = draft.names.index(after.entry)
    other, entry = draft.turns[number], draft.entries[number]
    if number >= place:
        what = f"there is no entry {other.written!r} above this one; an entry can only wait for one above it"
        yield draft.at(path, what)
    elif one.round is not None and not one.shares_round(other):
        what = f"{other.written} is not in this round, so it would be the same moment in each; leave `after` out"
        yield draft.at(path, what)
    elif after.is_ == "healed" and entry is not None and entry.lasts is None:
        what = f"{other.written} is not healed before the timeline ends; give it a `for`, or use is: applied"
        yield draft.at(path, what)


def _expression(draft: Draft, path: Path, text: str, parse: Callable[[str], Model]) -> Iterator[Found]:
    try:
        parsed = parse(text)
    except ExpressionError as error:
        yield draft.at(path, str(error))
        return
    topics = frozenset(draft.topics) | INTERNAL_TOPICS
    yield from _refers(draft, parsed, lambda _, what: draft.at(path, f"{text!r}: {what}"), topics)


def _referring(draft: Draft, path: Path, value: Model, topics: frozenset[str]) -> Iterator[Found]:
    yield from _refers(draft, value, lambda field, what: draft.at((*path, *field), what), topics)


def _refers(draft: Draft, value: Model, complain: Complain, topics: frozenset[str]) -> Iterator[Found]:
    """Yield mistakes in the fields of a value, nested values included, that name an object of the scenario."""
    known = {"topic": topics, "to": topics, "probe": frozenset(draft.probes), "group": draft.groups,
             "transactional_id": draft.transactional_ids}  # fmt: skip
    for field in type(value).model_fields:
        named = getattr(value, field)
        if field in _OF_PROBES and not (isinstance(value, Step) or (isinstance(value, Target) and known[field])):
            continue  # a probe's own field, or nothing to compare with
        if field in known and isinstance(named, str) and named not in known[field]:
            noun = _NOUNS.get(field, field)
            yield complain((field,), f"there is no {noun} {named!r}; {instead(named, known[field])}")
        if field in ("partition", "partitions") and named is not None:
            numbers = named if isinstance(named, tuple) else (named,)
            yield from _partitions(draft, getattr(value, "topic", None), field, numbers, complain)
        if isinstance(named, Model):
            yield from _refers(draft, named, partial(_inside, complain, field), topics)
    if isinstance(value, Target | Condition):
        for nested in inside(value).values():
            yield from _refers(draft, nested, complain, topics)


def _inside(complain: Complain, field: str, path: tuple[str, ...], what: str) -> Found:
    return complain((field, *path), what)


def _partitions(
    draft: Draft, topic: object, field: str, numbers: Iterable[object], complain: Complain
) -> Iterator[Found]:
    most = _most_partitions(draft, topic) if isinstance(topic, str) else None
    for number in numbers:
        if most is not None and isinstance(number, int) and not 0 <= number < most:
            has = "one partition, 0" if most == 1 else f"partitions 0 to {most - 1}"
            yield complain((field,), f"there is no partition {number} of {topic!r}; it has {has}")


def _most_partitions(draft: Draft, topic: str) -> int | None:
    """Return the largest number of partitions that a topic has or is given; None if unknown."""
    shape = draft.topics.get(topic)
    steps = (entry.step for entry in draft.entries if entry is not None)
    added = (step.count for step in steps if isinstance(step, CreatePartitions) and step.topic == topic)
    return None if shape is None else max([shape.partitions, *added])
