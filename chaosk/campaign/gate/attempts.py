"""The result of an attempt, read from its run directory."""

from __future__ import annotations

from pathlib import Path

from chaosk.campaign.gate.record import Attempt
from chaosk.core.errors import ExitCode
from chaosk.core.figures import counted
from chaosk.planning.plan import Plan
from chaosk.report.headline import headline
from chaosk.report.measures import overall
from chaosk.rundir.paths import RunDir, document
from chaosk.rundir.verdict import Measure, Outcome, Verdict
from chaosk.spec.inventory import Inventory
from chaosk.spec.metrics import METRICS

COUNTS = (Outcome.PASS, Outcome.DEGRADED)
"""Verdicts of runs with usable figures: the evidence suffices, and no rule is broken."""


_STOOD_STILL = {"clock_silent", "probe_stood_still", "watcher_stood_still"}
"""Guards for a stall of chaosk's own machine, or of a process on it."""


def ended(attempt: Attempt, folder: Path, exit_code: int, seconds: float, said: str) -> Attempt:
    """Return the attempt with its result; ``folder`` is the gate's, ``said`` the run's last line on stderr."""
    base = folder / "runs" / attempt.key
    found = sorted(base.glob("*/*/plan.json"))
    run = RunDir(found[-1].parent) if found else None
    verdict = _verdict(run)
    plan = Plan.from_json(document(run.plan)) if run is not None else None
    return attempt.model_copy(
        update={
            "state": "broken off" if exit_code == ExitCode.INTERRUPTED else "done",
            "exit_code": exit_code,
            "verdict": None if verdict is None else verdict.verdict,
            "stood_still": verdict is not None and _stood_still(verdict, exit_code),
            "said": said if verdict is None else headline(verdict),
            "seconds": round(seconds, 1),
            "folder": None if run is None else str(run.root.relative_to(folder)),
            "cluster": "" if plan is None else shape(plan.inventory),
            "kafka": None if plan is None else plan.kafka,
            "figures": () if verdict is None else _figures(verdict),
            "measures": () if verdict is None or not attempt.variant else _measures(verdict),
        }
    )


def shape(inventory: Inventory) -> str:
    """Return a cluster's shape in words; figures of another shape are no baseline."""
    return shape_of(len(inventory.brokers), len(inventory.zookeepers), len(inventory.controllers))


def shape_of(brokers: int, zookeepers: int, controllers: int) -> str:
    """Return the shape in words of a cluster with these numbers of nodes."""
    keepers = (
        counted(zookeepers, "ZooKeeper node") if zookeepers
        else counted(controllers, "controller") if controllers else "KRaft in the brokers"
    )  # fmt: skip
    return f"{counted(brokers, 'broker')}, {keepers}"


def _verdict(run: RunDir | None) -> Verdict | None:
    if run is None or not run.verdict.exists():
        return None
    return Verdict.model_validate_json(document(run.verdict))


def _stood_still(verdict: Verdict, exit_code: int) -> bool:
    """Return True if a stall is the only reason for being inconclusive: all is healed, and no other guard failed."""
    guards = {guard.guard for guard in verdict.guards}
    return exit_code == ExitCode.INCONCLUSIVE and verdict.healed and bool(guards) and guards <= _STOOD_STILL


def _figures(verdict: Verdict) -> tuple[Measure, ...]:
    """Return the figures of the whole run, of all subjects together."""
    if verdict.verdict not in COUNTS or not verdict.healed:
        return ()
    found = (overall(name, verdict.measures) for name in METRICS)
    return tuple(one.model_copy(update={"subject": ""}) for one in found if one is not None)


def _measures(verdict: Verdict) -> tuple[Measure, ...]:
    """Return the figures of the whole run, of each subject."""
    return tuple(one for one in verdict.measures if one.window == "run" and (one.value is not None or one.censored))
