"""One run directory as far as it tells: the verdict, and what the plan says of scenario and cluster.

The verdict is needed. The plan of an older chaosk may name what this one does not know, so it is read as a report
reads it: what it has is told, what it lacks is left empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Literal

from chaosk.campaign.gate.attempts import counted
from chaosk.campaign.history.folders import Found, passed
from chaosk.core.errors import UsageError
from chaosk.core.model import Model
from chaosk.report.source import mapping, read_verdict
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Verdict

_LONGEST = 366 * 86_400
"""Seconds that a run lasts at most."""
_DISTANT = 1 << 62
"""Nanoseconds beyond which no clock of a run is."""


class Cluster(Model):
    """What a run was made on; what its plan does not say is empty."""

    name: str
    kafka: str
    """The brokers' version."""
    mode: Literal["zookeeper", "kraft", ""]
    shape: str
    """Like ``3 brokers, 3 ZooKeeper nodes``."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A judged run."""

    run: RunDir
    verdict: Verdict
    plan: Mapping[str, Any]
    notes: tuple[str, ...]
    """What could not be read, in words."""

    @property
    def began(self) -> datetime:
        """When its timeline began, UTC."""
        return datetime.fromtimestamp(self.verdict.wall / 1e9, tz=UTC)

    @property
    def cluster(self) -> Cluster:
        """What it was made on."""
        inventory = part(self.plan, "inventory")
        brokers, zookeepers, controllers = (
            len(part(inventory, kind)) for kind in ("brokers", "zookeepers", "controllers")
        )
        return Cluster(
            name=str(inventory.get("name") or ""),
            kafka=str(self.plan.get("kafka") or ""),
            mode="" if not brokers else "zookeeper" if zookeepers else "kraft",
            shape=counted(brokers, zookeepers, controllers) if brokers else "",
        )


def part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The mapping that a document has under a name; an empty one where it has none."""
    found = document.get(name)
    return found if isinstance(found, Mapping) else {}


def stored(run: RunDir) -> Stored:
    """The run in a run directory; raises UsageError where it is not judged, or says what no run can."""
    verdict = read_verdict(run)
    if not _possible(verdict):
        raise UsageError(f"{run.verdict}: gives times that no run has; judge it again with `chaosk analyze {run.root}`")
    notes: list[str] = []
    plan = mapping(run.plan, notes)
    return Stored(run, verdict, plan, tuple(notes))


def _possible(verdict: Verdict) -> bool:
    """Whether the times of a verdict are such as clocks give."""
    times = [verdict.began, verdict.wall]
    for fault in verdict.faults:
        times += [at for at in (fault.invoked, fault.applied, fault.heal_invoked, fault.healed) if at is not None]
    lasts = verdict.duration
    return isfinite(lasts) and 0 <= lasts <= _LONGEST and all(0 <= at < _DISTANT for at in times)


def judged(found: Found) -> Iterable[Stored]:
    """The runs that have a verdict, one after the other; the others join those that were passed over."""
    for run in found.runs:
        try:
            yield stored(run)
        except UsageError as error:
            found.passed.append(passed(run.root, error))
