"""Shrinking: run simpler sequences on the cluster while there is time, and keep the last one that failed alike.

A sequence that was run before is not run again, so an exploration that ended early continues at the same point.
"""

from __future__ import annotations

from dataclasses import dataclass

from chaosk.campaign.explore.record import Exploration, FailingSequence, Trial, save
from chaosk.campaign.explore.sequence import Sequence, kinds
from chaosk.campaign.explore.smaller import smaller
from chaosk.campaign.explore.trial import Means, Tried, attempt_of, carried_out
from chaosk.document import DocumentError


@dataclass(frozen=True, slots=True)
class _Answer:
    """The result of a sequence: True if it fails like the failing sequence; None if there was no time to run it."""

    fails: bool | None
    run: str | None = None


def shrunk(told: Exploration, means: Means) -> Exploration:
    """Minimize the failing sequence; sets ``smallest``, at least to the failing sequence itself."""
    if (found := told.found) is None:
        return told
    told = told.model_copy(update={"smallest": found})
    search = smaller(means.space, found.sequence)
    try:
        candidate = next(search)
        while True:
            answer, told = _answer(told, means, found, candidate)
            if answer.fails is None:
                break
            if answer.fails:
                best = found.model_copy(update={"sequence": candidate, "run": answer.run})
                told = told.model_copy(update={"smallest": best})
            candidate = search.send(answer.fails)
    except StopIteration:
        told = told.model_copy(update={"why_ended": None})
    save(means.folder, told)
    return told


def _answer(
    told: Exploration, means: Means, found: FailingSequence, candidate: Sequence
) -> tuple[_Answer, Exploration]:
    number, done = _known(told, candidate)
    while True:
        if (alike := next((one for one in done if set(found.breaches) <= set(one.breaches)), None)) is not None:
            return _Answer(fails=True, run=alike.attempt.folder), told
        if len(done) >= told.tries:
            return _Answer(fails=False), told
        if (why := _why_enough(told, means)) is not None:
            return _Answer(fails=None), told.model_copy(update=why)
        what = Tried("smaller", number, found.round, candidate, _seed(told, found))
        try:
            attempt = attempt_of(told, means, what, len(done) + 1)
        except DocumentError:
            return _Answer(fails=False), told
        steps = ", ".join(kinds(means.space, candidate)) or "no fault at all"
        means.say(f"smaller {number}, try {attempt.repeat} of {told.tries}: {steps}")
        told = carried_out(told, means, what, attempt)
        means.say(f"smaller {number}: {told.trials[-1].attempt.said or told.trials[-1].attempt.exit_code}")
        _, done = _known(told, candidate)


def _known(told: Exploration, candidate: Sequence) -> tuple[int, list[Trial]]:
    """Return the number of a smaller sequence, which is the next free one if it is new, and its trials."""
    every = told.of("smaller")
    done = [one for one in every if one.sequence == candidate]
    return done[0].number if done else max((one.number for one in every), default=0) + 1, done


def _seed(told: Exploration, found: FailingSequence) -> int:
    return next(one.seed for one in told.of("round") if one.number == found.round)


def _why_enough(told: Exploration, means: Means) -> dict[str, object] | None:
    """Return the changes to record if nothing more is to be run, else None."""
    if told.why_ended is not None:
        return {}
    if means.stop.is_set():
        return {"why_ended": "it was interrupted", "interrupted": True}
    if told.spent("smaller") >= told.shrink_seconds:
        return {"why_ended": f"the {told.shrink_seconds:g} s for shrinking were over"}
    return None
