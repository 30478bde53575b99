"""The figures that each subject of a scenario has: a bound on a figure that its subject never has cannot be missed."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.core.plugins import name_of
from chaosk.document.draft import Draft
from chaosk.probes.consume import Consume
from chaosk.probes.produce import Produce
from chaosk.probes.transform import Transform
from chaosk.rundir.verdict import QUIET
from chaosk.spec.contracts.probe import Probe
from chaosk.spec.metrics import ALIKE, BY_KIND, CONNECTIONS, METRICS, OF_COMMITTERS, OF_SUBSCRIBERS, OF_WRITTEN, Metric

NOUNS = ("probe", "topic", "fault", "group")


def misfit(draft: Draft, metric: Metric, subject: str) -> str | None:
    """Return the reason why a subject never has a figure, with another one to bound; None if it may have it.

    An empty ``subject`` means any subject. A timeline without any fault is left to the run, since a space may draw any
    of its entries.
    """
    if not _is_known(draft, metric) or (metric.subject == "fault" and not subject):
        return None
    having = sorted(set(_having(draft, metric)))
    if subject in having or (not subject and having):
        return None
    if subject and having:
        return f"{_why(draft, metric, subject)}; {_of(having, subject)}{_alike(draft, metric, subject)}"
    return f"{_nobody(metric)}; {_nearest(draft, metric)}"


def _is_known(draft: Draft, metric: Metric) -> bool:
    """Return True if all possible subjects of the metric could be read."""
    if metric.subject == "fault":
        return not draft.unsure and None not in draft.entries
    if metric.name in OF_WRITTEN and not all(topic in draft.topics for topic in _written(draft)):
        return False
    return None not in draft.probes.values()


def _written(draft: Draft) -> set[str]:
    """Return the topics that probes write to."""
    return {topic for probe in draft.probes.values() if probe is not None for topic in _writes(probe)}


def _having(draft: Draft, metric: Metric) -> Iterator[str]:
    probes = {name: probe for name, probe in draft.probes.items() if probe is not None}
    if metric.subject == "probe":
        yield from (name for name, probe in probes.items() if metric.name in figures(probe))
    elif metric.subject == "topic":
        written = _written(draft)
        yield from (name for name in draft.topics if name in written or metric.name not in OF_WRITTEN)
    elif metric.subject == "group":
        yield from (group for probe in probes.values() for group in _groups(probe) if _counts(probe, metric.name))
    else:
        for turn, entry in zip(draft.turns, draft.entries, strict=True):
            if entry is not None and entry.kind not in QUIET:
                yield from (turn.name, turn.written)


def figures(probe: Probe) -> frozenset[str]:
    """Return the figures that a probe has; for a plugin's probe all of them."""
    kind = name_of(type(probe))
    if kind not in BY_KIND:
        return frozenset(METRICS)
    watched = CONNECTIONS if getattr(probe, "connections", False) else frozenset()
    return frozenset(BY_KIND[kind]) | watched


def _writes(probe: Probe) -> Iterator[str]:
    if isinstance(probe, Produce):
        yield probe.topic
    elif isinstance(probe, Transform):
        yield probe.to
    elif isinstance(probe, Consume):
        yield from filter(None, [probe.writes_to()])
    else:
        yield from probe.topics()


def _groups(probe: Probe) -> Iterator[str]:
    group = getattr(probe, "group", None)
    yield from [group] if isinstance(group, str) else []


def _counts(probe: Probe, metric: str) -> bool:
    """Return True if a group has the figure because of this member."""
    if not isinstance(probe, Consume):
        return metric != "swallowed_records" or not isinstance(probe, Transform)
    if metric in OF_SUBSCRIBERS and probe.assign is not None:
        return False
    if metric == "swallowed_records" and probe.failing is None:
        return False
    return metric not in OF_COMMITTERS or probe.committing() != "none"


def _why(draft: Draft, metric: Metric, subject: str) -> str:
    if metric.subject == "probe":
        probe = draft.probes[subject]
        if metric.name in CONNECTIONS:
            return f"the connections of {subject} are not watched (connections: true)"
        return f"{subject} never has {metric.name}: it is a {name_of(type(probe))}"
    if metric.subject == "topic":
        return f"{subject} never has {metric.name}: no probe writes to it"
    if metric.subject == "fault":
        return f"{subject} never has {metric.name}: it has no effect on the cluster"
    return f"{subject} never has {metric.name}: {_lacking(metric)}"


def _lacking(metric: Metric) -> str:
    if metric.name in OF_SUBSCRIBERS:
        return "no member of it gets its partitions from a group"
    return "no member of it has `failing`" if metric.name == "swallowed_records" else "no member of it commits"


def _nobody(metric: Metric) -> str:
    """Return the reason why no subject has the figure."""
    if metric.name in CONNECTIONS:
        return f"no probe has {metric.name}: no probe's connections are watched"
    if metric.name in OF_SUBSCRIBERS:
        return f"no group has {metric.name}: no probe gets its partitions from a group"
    if metric.subject == "group":
        return f"no group has {metric.name}: no probe reads for a group that can"
    reason = "no probe writes" if metric.subject == "topic" else "no probe is of a kind that has it"
    return f"no {metric.subject} has {metric.name}: {reason}"


def _of(having: list[str], subject: str) -> str:
    return f"write {having[0]} in place of {subject}"


def _alike(draft: Draft, metric: Metric, subject: str) -> str:
    probe = draft.probes.get(subject) if metric.subject == "probe" else None
    found = _row(metric, figures(probe)) if probe is not None else None
    return "" if found is None else f", or bound its {found}"


def _row(metric: Metric, known: frozenset[str]) -> str | None:
    rows = (row for row in ALIKE if metric.name in row)
    return next((name for row in rows for name in row if name in known and name != metric.name), None)


def _nearest(draft: Draft, metric: Metric) -> str:
    """Return an alternative to bound if no subject has the figure."""
    if metric.name in CONNECTIONS:
        return "write connections: true to a probe"
    if metric.subject == "probe":
        every = frozenset(name for probe in draft.probes.values() if probe is not None for name in figures(probe))
        found = _row(metric, every)
        return f"bound {found}" if found else "remove it"
    if metric.subject == "group":
        if metric.name == "swallowed_records":
            return "write `failing` to a probe that commits for a group, or bound skipped_records"
        readers = [n for n, probe in draft.probes.items() if isinstance(probe, Consume) and probe.group is None]
        if not draft.groups and readers:
            return f"give {readers[0]} a group, or bound end_to_end_max: {{{readers[0]}: 30s}}"
        return "give a probe a group that it commits for, or remove it"
    return "remove it, or bound it of one that has it"
