"""The exit code of an exploration, and what it rests on."""

from __future__ import annotations

from chaosk.campaign.explore.record import Exploration, Trial
from chaosk.core.errors import ExitCode

_NOT_RUN = (ExitCode.INTERNAL, ExitCode.PREFLIGHT, ExitCode.USAGE)
"""What kept runs from ending as they should, worst first."""


def exit_code(told: Exploration) -> ExitCode:
    """The documented one, worst first.

    3 a cluster was left unhealed; 130 interrupted; 1 something was found; what kept runs from being run, if that ended
    it; 0 the evidence of one round carried; 2 that of none did.
    """
    codes = {_code(one) for one in told.trials}
    if ExitCode.NOT_HEALED in codes:
        return ExitCode.NOT_HEALED
    if told.interrupted:
        return ExitCode.INTERRUPTED
    if told.found is not None:
        return ExitCode.FAIL
    if told.trials and (last := _code(told.trials[-1])) in _NOT_RUN:
        return last
    return ExitCode.PASS if ExitCode.PASS in codes else ExitCode.INCONCLUSIVE


def finished(told: Exploration) -> bool:
    """Whether there is nothing to go on with: the rounds or their time are over, or what was found is small enough."""
    if any(one.attempt.state != "done" for one in told.trials):
        return False
    if told.found is None:
        return told.spent("round") >= told.seconds or len(told.of("round")) == told.rounds
    small = told.smallest is not None and told.why_ended is None
    return small or told.spent("smaller") >= told.shrink_seconds


def resumed(told: Exploration) -> Exploration:
    """As it was before what ended it: what was broken off is to be run again."""
    done = tuple(one for one in told.trials if one.attempt.state == "done")
    return told.model_copy(update={"trials": done, "interrupted": False, "why_ended": None})


def _code(trial: Trial) -> ExitCode:
    """That of its run; a run that was ended by a signal, or by what is no code of ours, broke a promise."""
    code = trial.attempt.exit_code
    return ExitCode(code) if code in set(ExitCode) else ExitCode.INTERNAL
