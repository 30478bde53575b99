"""Rounds: one drawn sequence after the other, until one fails or the time is over."""

from __future__ import annotations

from collections.abc import Callable

from chaosk.campaign.explore.draw import Drawn, draw
from chaosk.campaign.explore.record import Exploration, FailingSequence, Trial, save
from chaosk.campaign.explore.sequence import Sequence, kinds
from chaosk.campaign.explore.trial import Means, Tried, attempt_of, carried_out
from chaosk.core.errors import UsageError
from chaosk.core.figures import counted


def rounds(told: Exploration, means: Means, refused: Callable[[Sequence], str | None]) -> Exploration:
    """Run drawn sequences until one fails or the exploration ends; ``why_ended`` then has the reason."""
    while told.found is None and told.why_ended is None:
        if (why := _why_enough(told, means)) is not None:
            told = told.model_copy(update={"why_ended": why, "interrupted": means.stop.is_set()})
            save(means.folder, told)
            break
        number = told.first + len(told.of("round"))
        try:
            drawn = draw(means.space, told.seed, number, refused)
        except UsageError as error:
            told = told.model_copy(update={"why_ended": str(error)})
            save(means.folder, told)
            break
        told = _round(told, means, number, drawn)
    return told


def _round(told: Exploration, means: Means, number: int, drawn: Drawn) -> Exploration:
    steps = ", ".join(kinds(means.space, drawn.sequence))
    again = f"; {len(drawn.refused)} refused before" if drawn.refused else ""
    means.say(f"round {number} after {told.spent('round'):.0f} s: {steps}{again}")
    what = Tried("round", number, number, drawn.sequence, drawn.seed, len(drawn.refused))
    told = carried_out(told, means, what, attempt_of(told, means, what))
    last = told.trials[-1]
    means.say(f"round {number}: {last.attempt.said or f'ended with {last.attempt.exit_code}'}")
    if last.gravest:
        told = told.model_copy(update={"found": _found(last, number)})
        save(means.folder, told)
    return told


def _found(trial: Trial, number: int) -> FailingSequence:
    return FailingSequence(round=number, sequence=trial.sequence, breaches=trial.gravest, run=trial.attempt.folder)


def _why_enough(told: Exploration, means: Means) -> str | None:
    if means.stop.is_set():
        return "it was interrupted"
    done = len(told.of("round"))
    if told.rounds is not None and done >= told.rounds:
        return f"it was to be {counted(told.rounds, 'round')}"
    if told.spent("round") >= told.seconds:
        return f"its time of {told.seconds:g} s was over"
    return None
