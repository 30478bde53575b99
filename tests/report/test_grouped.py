"""Findings with one cause are one, and those that only look alike stay apart."""

from __future__ import annotations

from typing import Any

from chaosk.report.grouped import grouped, rules
from chaosk.rundir.verdict import Finding, Severity


def finding(check: str, rule: str, partition: int = 0, topic: str = "orders", **more: Any) -> Finding:
    """A finding about one partition."""
    fields: dict[str, Any] = {
        "title": check, "severity": Severity.ALLOWED, "count": 1,
        "evidence": ({"topic": topic, "partition": partition, "offset": 7},), **more,
    }  # fmt: skip
    return Finding(check=check, rule=rule, **fields)


def test_one_truncation_is_one_finding() -> None:
    """Whatever rules it breaks; what it comes to for users stands first."""
    found = [finding("inconsistent_offset", "A1"), finding("truncation_after_ack", "A15"), finding("lost", "A4")]
    (group,) = grouped(found)
    assert [one.rule for one in group] == ["A4", "A15", "A1"]
    assert rules(group) == "A4, A15 and A1"


def test_other_partitions_under_the_same_fault_are_the_same_truncation() -> None:
    """The rows in the verdict are the first ones only."""
    found = [finding("lost", "A4", 0, faults=("cut",)), finding("inconsistent_offset", "A1", 3, faults=("cut",))]
    assert len(grouped(found)) == 1


def test_what_is_not_one_cause() -> None:
    """Another topic, another severity, another kind of trouble."""
    lost = finding("lost", "A4")
    for other in (
        finding("inconsistent_offset", "A1", topic="payments"),
        finding("inconsistent_offset", "A1", severity=Severity.VIOLATION),
        finding("duplicate_in_log", "A2", reason="idempotence is off"),
    ):
        assert len(grouped([lost, other])) == 2


def test_what_the_same_reason_allows_is_one() -> None:
    """Such as readers of a log that was cut back."""
    why = "an unclean election was allowed"
    found = [finding("poll_order", "B2", reason=why), finding("commit_regression", "B6", reason=why)]
    assert [rules(group) for group in grouped(found)] == ["B2 and B6"]
