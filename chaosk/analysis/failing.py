"""When probes are to fail: the scenario's ``must_fail`` on the clock of the run."""

from __future__ import annotations

import json
from dataclasses import dataclass

from chaosk.analysis.case import Case, Span
from chaosk.spec.must_fail import MustFail

AGAIN = "again: "
"""What the names of the spans of :func:`afterwards` begin with: no entry has such a name."""
LEAST = 5_000_000_000
"""Nanoseconds that a probe is to have left, after it was to fail, for its success to be missed."""


@dataclass(frozen=True, slots=True)
class Failing:
    """A stretch in which nothing that a probe tries may succeed; monotonic nanoseconds."""

    probe: str
    began: int
    """From when on its attempts count."""
    since: int
    """From when on a success of theirs is one too many."""
    ended: int
    """What is tried from then on may succeed again."""


def meant(case: Case) -> dict[str, MustFail]:
    """By probe when it is to fail, as planned."""
    found = {}
    for probe, kinds in case.plan.probes.items():
        told = next((kind.get("must_fail") for kind in kinds.values() if isinstance(kind, dict)), None)
        if told is not None:
            found[probe] = MustFail.model_validate_json(json.dumps(told))
    return found


def failing(case: Case) -> dict[str, Failing]:
    """By probe when it is to fail, as it came; without those for which that never began."""
    spans = ((probe, _span(case, probe, how)) for probe, how in meant(case).items())
    return {probe: span for probe, span in spans if span is not None}


def afterwards(case: Case) -> tuple[Span, ...]:
    """For each probe that was to fail for a time the rest of the run, by its name: there it is to succeed again."""
    over, ended = {probe: span.ended for probe, span in failing(case).items()}, case.run.ended
    return tuple(Span(AGAIN + probe, at, ended) for probe, at in sorted(over.items()) if ended - at >= LEAST)


def _span(case: Case, probe: str, how: MustFail) -> Failing | None:
    began, ended, delay = _began(case, probe, how), case.record.ended, 0
    if how.until is not None:
        ended = next((entry.invoked for entry in case.acted if entry.name == how.until), ended)
    if how.after is not None:
        delay = round(how.after.delay * 1e9)
    return None if began is None or began >= ended else Failing(probe, began, began + delay, ended)


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
