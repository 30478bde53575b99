"""Guards about a cluster that is not the one of the plan: replicas, partitions and settings of the scenario's topics.

Only what the watcher saw before any entry may have changed it is compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.analysis.case import Case
from chaosk.rundir.verdict import Guard
from chaosk.spec.entity import spelled

_MOVING = frozenset({"reassign_partitions", "cancel_reassignment", "recreate_topic"})
"""Kinds of step that may change the number of replicas."""
_GROWING = frozenset({"create_partitions", "recreate_topic"})
"""Kinds of step that may change the number of partitions."""
_SETTING = frozenset({"set_topic_config", "recreate_topic"})
"""Kinds of step that may change the settings of a topic."""
_NEVER = 2**63 - 1


def plan_contradicted(case: Case) -> Iterator[Guard]:
    """Yield a guard for each contradiction between the plan and the first samples: another experiment was run."""
    for what in (*_replicas(case), *_partitions(case), *_settings(case)):
        yield Guard(
            guard="plan_contradicted",
            what=f"{what}: this is not the experiment that was planned; run the scenario again",
        )


def _replicas(case: Case) -> Iterator[str]:
    for (topic, partition), (at, count) in sorted(case.first_replicas.items()):
        planned = case.plan.topics.get(topic)
        if planned is not None and count != planned.replication_factor and at < _changed(case, topic, _MOVING):
            wanted = planned.replication_factor
            yield f"{topic}-{partition} had a replication factor of {count}, and the plan sets {wanted}"


def _partitions(case: Case) -> Iterator[str]:
    """Yield topics with more partitions than planned; the tail audit reports missing ones."""
    for topic, (at, count) in sorted(case.first_partitions.items()):
        planned = case.plan.topics.get(topic)
        if planned is not None and count > planned.partitions and at < _changed(case, topic, _GROWING):
            yield f"{topic} had {count} partitions, and the plan has {planned.partitions}"


def _settings(case: Case) -> Iterator[str]:
    for topic, planned in sorted(case.plan.topics.items()):
        changed = _changed(case, topic, _SETTING)
        for name, wanted in sorted(planned.config.items()):
            told = [row for row in case.settings if (row.topic, row.name) == (topic, name) and row.at < changed]
            in_force = [row for row in told if row.at <= case.run.began][-1:] or told[:1]
            if in_force and _meaning(in_force[0].value) != _meaning(wanted):
                yield f"brokers reported {name} of {topic} as {in_force[0].value}, and the plan sets {spelled(wanted)}"


def _changed(case: Case, topic: str, kinds: frozenset[str]) -> int:
    """Return the time at which an entry may first have changed a topic."""
    names = {e.name for e in case.plan.timeline if e.kind in kinds and e.step.get("topic") == topic}
    return min((fault.invoked for fault in case.acted if fault.name in names), default=_NEVER)


def _meaning(value: object) -> object:
    """Return what a broker takes a value for: a number, or words in any order."""
    text = spelled(value).strip().lower()
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return frozenset(word.strip() for word in text.split(","))
