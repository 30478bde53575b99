"""The exit code of a gate: the worst of its runs and of the comparison with a baseline."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.campaign.gate.record import Attempt, Gate
from chaosk.core.errors import ExitCode
from chaosk.rundir.verdict import Outcome

WORST_FIRST = (
    ExitCode.NOT_HEALED, ExitCode.INTERRUPTED, ExitCode.FAIL, ExitCode.INTERNAL, ExitCode.PREFLIGHT, ExitCode.USAGE,
    ExitCode.INCONCLUSIVE, ExitCode.PASS,
)  # fmt: skip
"""After an interruption the rest is unknown and may be worse than a known failure; only unhealed is worse than that."""


def exit_code(gate: Gate) -> ExitCode:
    """Return the worst exit code; a gate in which nothing was run is inconclusive, never a pass."""
    found = set(_codes(gate))
    return next(code for code in WORST_FIRST if code in found)


def state_of(one: Attempt) -> str:
    """Return an attempt's state: ``pass``, ``degraded``, ``violation``, ``inconclusive`` or ``not run``."""
    if one.exit_code == ExitCode.NOT_HEALED:
        return str(Outcome.VIOLATION)
    return "not run" if one.exit_code is None else str(one.verdict or Outcome.INCONCLUSIVE)


def _codes(gate: Gate) -> Iterator[ExitCode]:
    known = set(ExitCode)
    for one in gate.attempts:
        if one.exit_code is None:
            yield ExitCode.INCONCLUSIVE
        else:  # ended by a signal, or with an unknown code
            yield ExitCode(one.exit_code) if one.exit_code in known else ExitCode.INTERNAL
    if gate.baseline is not None:
        for each in gate.comparisons:
            if each.worse:
                yield ExitCode.FAIL
            elif each.p is None:
                yield ExitCode.INCONCLUSIVE
        if not gate.comparisons:
            yield ExitCode.INCONCLUSIVE
    if not gate.attempts:
        yield ExitCode.INCONCLUSIVE
    yield ExitCode.PASS
