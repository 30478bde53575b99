"""Reasons of findings, for people."""

from __future__ import annotations

from chaosk.rundir.verdict import Finding, Severity


def reason_told(finding: Finding) -> str:
    """Return the reason of a finding, like ``allowed: acks is 1``; empty if it has none."""
    if finding.reason is None:
        return ""
    return finding.reason if finding.severity is Severity.VIOLATION else f"allowed: {finding.reason}"
