"""Documents of a run directory other than events: verdict, plan, run record, states of the cluster.

Only the verdict is required. Missing or damaged other documents are noted, not raised.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from chaosk.core.errors import UsageError
from chaosk.report.tables import UnreadableTable
from chaosk.rundir.paths import SEEN, RunDir, document
from chaosk.rundir.verdict import Verdict

T = TypeVar("T")

STATES = ("before", "during", "after")
"""The states of the cluster that every run keeps."""
MOST_LOOKS = 12
"""Largest number of further states, recorded by timeline entries; each is a column."""


@dataclass(frozen=True, slots=True)
class Source:
    """The readable documents of a run directory."""

    run: RunDir
    verdict: Verdict
    plan: Mapping[str, Any]
    record: Mapping[str, Any]
    states: Mapping[str, Mapping[str, Any]]
    notes: list[str] = field(default_factory=list)
    """Unreadable parts, in words; grows while the report is made."""

    def tolerate(self, build: Callable[[], T]) -> T | None:
        """Return the result of ``build`` on event tables; None, with a note, if a table is unreadable."""
        try:
            return build()
        except UnreadableTable as error:
            self.note(str(error))
            return None

    def note(self, what: str) -> None:
        """Note an unreadable part in the report, once."""
        if what not in self.notes:
            self.notes.append(what)


def read_verdict(run: RunDir) -> Verdict:
    """Read the verdict of a run; raises UsageError if there is none yet, or if it is invalid."""
    try:
        return Verdict.model_validate_json(document(run.verdict))
    except FileNotFoundError as error:
        raise UsageError(f"{run.root}: no verdict yet; judge the run with `chaosk analyze {run.root}`") from error
    except (OSError, ValidationError) as error:
        first = (
            str(error).splitlines()[0]
            if isinstance(error, OSError)
            else f"{error.error_count()} of its fields are wrong"
        )
        raise UsageError(
            f"{run.verdict}: cannot be read: {first}; judge the run again with `chaosk analyze {run.root}`"
        ) from error


def read(run: RunDir) -> Source:
    """Read all documents for a report, except for the events."""
    notes: list[str] = []
    states, record = _states(run, notes), mapping(run.run, notes)
    return Source(
        run=run,
        verdict=_as_aimed(read_verdict(run), record),
        plan=mapping(run.plan, notes),
        record=record,
        states={name: state for name, state in states.items() if state},
        notes=notes,
    )


def _as_aimed(verdict: Verdict, record: Mapping[str, Any]) -> Verdict:
    """Replace each fault's targets by the run's own description, if recorded: it tells the sides of a cut."""
    aims = record.get("aims")
    if not isinstance(aims, Mapping):
        return verdict
    told = {name: aim for name, aim in aims.items() if isinstance(aim, str) and aim}
    faults = (fault.model_copy(update={"targets": told.get(fault.name, fault.targets)}) for fault in verdict.faults)
    return verdict.model_copy(update={"faults": tuple(faults)})


def _states(run: RunDir, notes: list[str]) -> Mapping[str, Mapping[str, Any]]:
    """Return the recorded states by name: before the run, those of timeline entries by time, after the run."""
    always = {name: mapping(run.cluster / f"{name}.json", notes) for name in STATES}
    looks = sorted(run.cluster.glob(f"{SEEN}*.json"))[:MOST_LOOKS]
    seen = {_called(path.stem.removeprefix(SEEN)): mapping(path, notes) for path in looks}
    between = {**seen, "during": always["during"]}
    in_order = sorted(between.items(), key=lambda one: _when(one[1]))
    return {"before": always["before"], **dict(in_order), "after": always["after"]}


def _called(entry: str) -> str:
    return f"{entry} (looked at)" if entry in STATES else entry


def _when(state: Mapping[str, Any]) -> float:
    at = state.get("at")
    return float(at) if isinstance(at, int) else float("inf")


def mapping(path: Path, notes: list[str]) -> Mapping[str, Any]:
    """Read a JSON document of a run directory; empty if it is missing, or, with a note, if it is unreadable."""
    try:
        found = json.loads(document(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        notes.append(f"{path.name} cannot be read: {error}")
        return {}
    return found if isinstance(found, dict) else {}
