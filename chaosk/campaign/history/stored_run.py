"""One run directory: its verdict, and the scenario and cluster of its plan.

The verdict is required. The plan of an older chaosk may contain unknown names, so it is read leniently, as a report
does: a missing value is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Literal

from chaosk.campaign.gate.attempts import shape_of
from chaosk.campaign.history.folders import RunListing, passed
from chaosk.core.errors import UsageError
from chaosk.core.model import Model
from chaosk.report.source import mapping, read_verdict
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Verdict

_LONGEST = 366 * 86_400
"""Maximum duration of a run in seconds."""
_DISTANT = 1 << 62
"""Upper bound of a run's clocks in nanoseconds."""


class Cluster(Model):
    """The cluster of a run; a value that its plan does not contain is empty."""

    name: str
    kafka: str
    """The brokers' version."""
    mode: Literal["zookeeper", "kraft", ""]
    shape: str
    """Like ``3 brokers, 3 ZooKeeper nodes``."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A judged run."""

    run: RunDir
    verdict: Verdict
    plan: Mapping[str, Any]
    notes: tuple[str, ...]
    """Messages about unreadable files."""

    @property
    def began(self) -> datetime:
        """Start of its timeline, UTC."""
        return datetime.fromtimestamp(self.verdict.wall / 1e9, tz=UTC)

    @property
    def cluster(self) -> Cluster:
        """The run's cluster."""
        inventory = part(self.plan, "inventory")
        brokers, zookeepers, controllers = (
            len(part(inventory, kind)) for kind in ("brokers", "zookeepers", "controllers")
        )
        return Cluster(
            name=str(inventory.get("name") or ""),
            kafka=str(self.plan.get("kafka") or ""),
            mode="" if not brokers else "zookeeper" if zookeepers else "kraft",
            shape=shape_of(brokers, zookeepers, controllers) if brokers else "",
        )


def part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the mapping that a document has under a name; an empty one if it has none."""
    found = document.get(name)
    return found if isinstance(found, Mapping) else {}


def stored(run: RunDir) -> StoredRun:
    """Load a run directory; raises UsageError if it is not judged, or contains impossible times."""
    verdict = read_verdict(run)
    if not _possible(verdict):
        raise UsageError(f"{run.verdict}: gives times that no run has; judge it again with `chaosk analyze {run.root}`")
    notes: list[str] = []
    plan = mapping(run.plan, notes)
    return StoredRun(run, verdict, plan, tuple(notes))


def _possible(verdict: Verdict) -> bool:
    """Return True if the times of a verdict are plausible."""
    times = [verdict.began, verdict.wall]
    for fault in verdict.faults:
        times += [at for at in (fault.invoked, fault.applied, fault.heal_invoked, fault.healed) if at is not None]
    lasts = verdict.duration
    return isfinite(lasts) and 0 <= lasts <= _LONGEST and all(0 <= at < _DISTANT for at in times)


def judged(found: RunListing) -> Iterable[StoredRun]:
    """Yield the runs that have a verdict; the others are added to the skipped folders."""
    for run in found.runs:
        try:
            yield stored(run)
        except UsageError as error:
            found.passed.append(passed(run.root, error))
