"""The topics of a scenario: created before the run, empty, spread over the brokers, known to all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.configs import topic_config
from chaosk.cluster.offsets import end_offsets_request, offsets_by_partition
from chaosk.cluster.owner import claim, own_topics
from chaosk.cluster.serving import wait_until_served
from chaosk.cluster.shape import differences
from chaosk.cluster.topic_admin import create_topics, delete_topics, wait_until_known
from chaosk.cluster.views import ClusterView, PartitionView, current, partitions
from chaosk.core.errors import PreflightError
from chaosk.spec.scenario import Topic


@dataclass(frozen=True, slots=True)
class _Found:
    """The state before any change."""

    views: tuple[ClusterView, ...]
    """Views of the brokers that belong to the cluster."""
    ids: Mapping[str, str]
    """Topic ids by name, for the scenario's topics that exist."""
    partitions: Mapping[str, Sequence[PartitionView]]
    """Their partitions by name."""


def prepare(brokers: Brokers, topics: Mapping[str, Topic]) -> tuple[str, ...]:
    """Create a scenario's topics: empty, with the desired shape, each led by its preferred leaders.

    A topic that chaosk made earlier is deleted and recreated, and groups' commits for it are lost. Any other existing
    topic is never deleted: it is used if it is empty and has the desired shape, and otherwise refused. Returns a line
    for each topic with the action taken. Raises PreflightError before any change if a topic is refused, or afterwards
    if a leader does not serve it; ClusterError if the cluster does not follow its own answers.
    """
    found = _look(brokers, topics)
    own = own_topics(brokers, found.ids)
    foreign = sorted(set(found.ids) - own)
    problems = _impossible(topics, found)
    problems += [told for name in foreign if (told := _refusal(brokers, found, name, topics[name]))]
    if problems:
        raise PreflightError("\n".join(problems))
    delete_topics(brokers, {name: found.ids[name] for name in sorted(own)})
    alive = () if any(one.racks for one in found.views) else found.views[0].alive  # Kafka knows the racks
    create_topics(brokers, {name: topic for name, topic in topics.items() if name not in foreign}, alive)
    claim(brokers, wait_until_known(brokers, topics))
    wait_until_served(brokers, topics)
    words = {**dict.fromkeys(own, "recreated"), **dict.fromkeys(foreign, "exists and is empty: used as it is")}
    return tuple(f"topic {name}: {words.get(name, 'created')}" for name in topics)


def _look(brokers: Brokers, topics: Iterable[str]) -> _Found:
    views = brokers.views(sorted(topics))
    inside = current(views)
    known = partitions(views)
    ids = {name: identity for one in reversed(inside) for name, identity in one.topic_ids.items()}
    return _Found(inside, ids, {name: [one for one in known if one.topic == name] for name in ids})


def _impossible(topics: Mapping[str, Topic], found: _Found) -> list[str]:
    alive = len(found.views[0].alive)
    return [
        f"topic {name}: replication_factor {topic.replication_factor}, and only {alive} brokers are alive; lower it"
        for name, topic in topics.items()
        if topic.replication_factor > alive
    ]


def _refusal(brokers: Brokers, found: _Found, name: str, wanted: Topic) -> str | None:
    """Return the reason why a topic that chaosk did not make cannot be used, with the remedy; None if it can."""
    there = found.partitions[name]
    told = differences(wanted, there, topic_config(brokers, found.views[0].asked, name))
    if told:
        return (
            f"topic {name}: it exists with other settings: {'; '.join(told)}; "
            "describe it as it is in the scenario, delete it, or use another name"
        )
    if _may_hold_records(brokers, there):
        return (
            f"topic {name}: it holds records, and has no mark that chaosk created it; "
            "delete it if it is not needed, or use another name"
        )
    return None


def _may_hold_records(brokers: Brokers, there: Sequence[PartitionView]) -> bool:
    """Return True if the log of any partition does not end at its start, or if no leader answers."""
    by_leader: dict[int, list[PartitionView]] = {}
    for one in there:
        by_leader.setdefault(one.leader, []).append(one)
    return any(leader < 0 or not _empty(brokers, leader, led) for leader, led in by_leader.items())


def _empty(brokers: Brokers, leader: int, led: Sequence[PartitionView]) -> bool:
    asked = {led[0].topic: [one.partition for one in led]}
    starts, ends = (offsets_by_partition(brokers.ask(leader, request)) for request in end_offsets_request(asked))
    return all((one.topic, one.partition) in starts for one in led) and starts == ends
