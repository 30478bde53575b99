"""Gates as they are recorded, made up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

from chaosk.campaign.gate.record import Attempt, Gate
from chaosk.rundir.verdict import Measure, Outcome

CLUSTER = "3 brokers, 3 ZooKeeper nodes"


def figure(metric: str, value: float | None, *, censored: bool = False) -> Measure:
    """A figure of a whole run."""
    unit = "ratio" if metric.endswith("availability") and not metric.endswith("unavailability") else "s"
    return Measure(metric=metric, subject="", value=value, unit=unit, censored=censored)


def attempt(scenario: str = "Kill", repeat: int = 1, exit_code: int | None = 0, **changes: Any) -> Attempt:
    """One run that passed, unless it is said otherwise."""
    verdicts = {0: Outcome.PASS, 1: Outcome.VIOLATION, 2: Outcome.INCONCLUSIVE, 3: Outcome.PASS}
    plain: dict[str, object] = {
        "file": f"/scenarios/{scenario.lower()}.yaml", "scenario": scenario, "digest": "0123", "repeat": repeat,
        "state": "not run" if exit_code is None else "done", "exit_code": exit_code,
        "verdict": verdicts.get(-1 if exit_code is None else exit_code), "seconds": None if exit_code is None else 61.5,
        "folder": None if exit_code is None else f"runs/{scenario.lower()}-{repeat}/x/y", "cluster": CLUSTER,
        "kafka": "3.9.2", "said": "" if exit_code is None else f"{scenario} ended with {exit_code}",
    }  # fmt: skip
    return Attempt.model_validate(plain | changes)


def gate(*attempts: Attempt, **changes: Any) -> Gate:
    """A gate of these."""
    plain: dict[str, object] = {
        "began": "2026-11-24T01:02:03Z", "attempts": attempts, "versions": {"chaosk": "1.0"},
        "metrics": ("recovery",), "tolerance": 0.2,
    }  # fmt: skip
    return Gate.model_validate(plain | changes)


def measured(
    values: Sequence[float], metric: str = "recovery", scenario: str = "Kill", **changes: Any
) -> list[Attempt]:
    """As many runs of a scenario, each with its figure; one that is infinite had no end."""
    figures = [figure(metric, 60.0, censored=True) if value == inf else figure(metric, value) for value in values]
    return [attempt(scenario, number, figures=(one,), **changes) for number, one in enumerate(figures, 1)]


def unreachable(folder: Path, port: int = 1) -> Path:
    """An inventory of a cluster that is nowhere: on this machine, where no SSH server has that port."""
    host = {"address": "127.0.0.1", "port": port, "user": "ops", "known_hosts": str(folder / "known_hosts")}
    every = {n: {"host": "node1", "service": {"systemd": f"kafka{n}.service"}} for n in (0, 1, 2, 9)}
    at = {"address": "127.0.0.1"}
    brokers = {str(n): {**every[n], "listeners": {"CLIENT": {**at, "port": 2 + n}}} for n in range(3)}
    told = {"name": "nowhere", "hosts": {"node1": host}, "brokers": brokers, "controllers": {"9": every[9]}}
    (folder / "known_hosts").touch()
    (folder / "cluster.yaml").write_text(json.dumps(told), "utf-8")
    return folder / "cluster.yaml"
