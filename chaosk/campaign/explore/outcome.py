"""The exit code of an exploration, and its reasons."""

from __future__ import annotations

from chaosk.campaign.explore.record import Exploration, Trial
from chaosk.core.errors import ExitCode

_NOT_RUN = (ExitCode.INTERNAL, ExitCode.PREFLIGHT, ExitCode.USAGE)
"""Exit codes of runs that did not end normally, worst first."""


def exit_code(told: Exploration) -> ExitCode:
    """Return the documented exit code, worst first.

    3: a cluster was left unhealed; 130: interrupted; 1: a sequence failed; the last run's code if it did not run and so
    ended the exploration; 0: at least one round had complete evidence; 2: none had.
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
    """Return True if nothing is left to run: rounds or time are used up, or the failing sequence is minimized."""
    if any(one.attempt.state != "done" for one in told.trials):
        return False
    if told.found is None:
        return told.spent("round") >= told.seconds or len(told.of("round")) == told.rounds
    small = told.smallest is not None and told.why_ended is None
    return small or told.spent("smaller") >= told.shrink_seconds


def resumed(told: Exploration) -> Exploration:
    """Return the exploration as it was before it ended early; an interrupted trial is run again."""
    done = tuple(one for one in told.trials if one.attempt.state == "done")
    return told.model_copy(update={"trials": done, "interrupted": False, "why_ended": None})


def _code(trial: Trial) -> ExitCode:
    """Return the exit code of a trial's run; a signal or an unknown code counts as an internal error."""
    code = trial.attempt.exit_code
    return ExitCode(code) if code in set(ExitCode) else ExitCode.INTERNAL
