"""The tiers: what each needs, and what happens where it is missing.

A lab test without root or without its tools is skipped with the reason; a Spark test without Java too. With ``CI`` set
such a skip is a failure: there, a tier that silently did not run would look like one that passed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

TIERS = ("pure", "spark", "packaging", "lab")
TOOLS = {
    "spark": ("java",),
    "lab": ("java", "mvn", "ip", "iptables", "unshare", "nsenter", "sshd", "sudo"),
}


def lacking(tier: str) -> str:
    """What this machine lacks for a tier, in words; empty if nothing."""
    missing = [tool for tool in TOOLS.get(tier, ()) if shutil.which(tool) is None]
    if tier == "lab" and os.geteuid() != 0:
        missing.insert(0, "root")
    return f"the {tier} tier needs {', '.join(missing)}; ./dev test sets it up" if missing else ""


def in_ci() -> bool:
    """Whether this is a CI run, where nothing may be skipped in silence."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what has no tier as pure, so that ``-m pure`` selects the quick tests; the lab's tests go last.

    In one of several processes they go first, as they take longest, and what shares a lab or the Spark session stays
    together.
    """
    for item in items:
        if not any(item.get_closest_marker(tier) for tier in TIERS):
            item.add_marker("pure")
        elif hasattr(config, "workerinput"):
            item.add_marker(pytest.mark.xdist_group(shared_by(item)))
    first = hasattr(config, "workerinput")
    items.sort(key=lambda item: [(item.get_closest_marker(tier) is None) is first for tier in reversed(TIERS)])


def shared_by(item: pytest.Item) -> str:
    """What a test that is not pure shares with others: the lab of its folder's tests, the Spark session, pip."""
    tier = next(tier for tier in reversed(TIERS) if item.get_closest_marker(tier))
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    return f"{tier}-{folder}" if tier == "lab" else tier


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose tier cannot run here, with the reason."""
    for tier in TIERS:
        if item.get_closest_marker(tier) and (reason := lacking(tier)):
            pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn any skipped test that is not pure into a failed one under CI, whatever skipped it."""
    report = yield
    expected_failure = hasattr(report, "wasxfail")
    if in_ci() and report.skipped and not expected_failure and not item.get_closest_marker("pure"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: skipped under CI: {report.longrepr}"
    return report
