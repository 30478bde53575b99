"""Groups of findings with a common cause: a truncated log breaks many rules at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chaosk.rundir.verdict import Finding, Severity

CUT_BACK = (
    "lost", "truncation_after_ack", "lost_write", "inconsistent_offset", "end_offset_regression", "stale_append",
    "leader_epoch_regression",
)  # fmt: skip
"""Checks that a single truncated log breaks, the most informative one first."""

Group = tuple[Finding, ...]
"""Findings with a common cause; the first one states the consequence."""


def grouped(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Group findings with a common cause, in order.

    Findings have a common cause if their severities are equal, they concern the same partition (or the same topic under
    the same fault), and a truncated log or the same reason explains them.
    """
    groups: list[list[Finding]] = []
    for finding in findings:
        home = next((group for group in groups if any(_one_cause(finding, other) for other in group)), None)
        if home is None:
            groups.append([finding])
        else:
            home.append(finding)
    return tuple(tuple(sorted(group, key=_telling)) for group in groups)


def _telling(finding: Finding) -> int:
    return CUT_BACK.index(finding.check) if finding.check in CUT_BACK else len(CUT_BACK)


def _one_cause(one: Finding, other: Finding) -> bool:
    if one.severity is not other.severity or one.severity is Severity.INFORMATION:
        return False
    both_cut = one.check in CUT_BACK and other.check in CUT_BACK
    same_reason = one.reason is not None and one.reason == other.reason
    return (both_cut or same_reason) and _meet(one, other)


def _meet(one: Finding, other: Finding) -> bool:
    mine, others = _places(one), _places(other)
    if mine & others:
        return True
    same_topic = {topic for topic, _ in mine} & {topic for topic, _ in others}
    return bool(same_topic and set(one.faults) & set(other.faults))


def _places(finding: Finding) -> set[tuple[object, object]]:
    return {(row["topic"], row.get("partition")) for row in finding.evidence if row.get("topic") is not None}


def rules(group: Sequence[Finding]) -> str:
    """Join the rules of a group, like ``A4 and A1``."""
    names = list(dict.fromkeys(finding.rule for finding in group))
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])
