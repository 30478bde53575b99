"""Periods in which probes must fail: the scenario's ``must_fail`` on the clock of the run."""

from __future__ import annotations

import json
from dataclasses import dataclass

from chaosk.analysis.case import Case, TimeSpan
from chaosk.spec.must_fail import MustFail

AGAIN = "again: "
"""Prefix of the names of the spans of :func:`afterwards`; no entry has such a name."""
LEAST = 5_000_000_000
"""Shortest time in nanoseconds after a ``must_fail`` period in which a probe must succeed again."""


@dataclass(frozen=True, slots=True)
class MustFailWindow:
    """A stretch in which every attempt of a probe must fail; monotonic nanoseconds."""

    probe: str
    began: int
    """Time from which its attempts count."""
    since: int
    """Time from which a success is a violation."""
    ended: int
    """Time from which attempts may succeed again."""


def meant(case: Case) -> dict[str, MustFail]:
    """Return the planned ``must_fail`` by probe."""
    found = {}
    for probe, kinds in case.plan.probes.items():
        told = next((kind.get("must_fail") for kind in kinds.values() if isinstance(kind, dict)), None)
        if told is not None:
            found[probe] = MustFail.model_validate_json(json.dumps(told))
    return found


def failing(case: Case) -> dict[str, MustFailWindow]:
    """Return the actual period by probe; without those that never began."""
    spans = ((probe, _span(case, probe, how)) for probe, how in meant(case).items())
    return {probe: span for probe, span in spans if span is not None}


def afterwards(case: Case) -> tuple[TimeSpan, ...]:
    """Return the rest of the run after each probe's period, by probe: it must succeed again in that time."""
    over, ended = {probe: span.ended for probe, span in failing(case).items()}, case.run.ended
    return tuple(TimeSpan(AGAIN + probe, at, ended) for probe, at in sorted(over.items()) if ended - at >= LEAST)


def _span(case: Case, probe: str, how: MustFail) -> MustFailWindow | None:
    began, ended, delay = _began(case, probe, how), case.record.ended, 0
    if how.until is not None:
        ended = next((entry.invoked for entry in case.acted if entry.name == how.until), ended)
    if how.after is not None:
        delay = round(how.after.delay * 1e9)
    return None if began is None or began >= ended else MustFailWindow(probe, began, began + delay, ended)


def _began(case: Case, probe: str, how: MustFail) -> int | None:
    if how.fenced:
        return min((at for (who, _), at in case.fenced.items() if who == probe), default=None)
    if how.after is None:
        return min((worker.started for worker in case.workers if worker.probe == probe), default=case.run.began)
    entry = next((entry for entry in case.acted if entry.name == how.after.entry), None)
    if entry is None:
        return None
    times = {"applied": entry.applied, "healed": entry.healed, "done": entry.healed or entry.applied}
    return times[how.after.is_]
