"""The exit code of a gate."""

from __future__ import annotations

import pytest
from sample_gate import attempt, gate

from chaosk.campaign.gate.outcome import WORST_FIRST, exit_code
from chaosk.campaign.gate.record import FigureComparison
from chaosk.core.errors import ExitCode

SAME = FigureComparison(scenario="Kill", metric="recovery", unit="s", p=0.7)
WORSE = SAME.model_copy(update={"p": 0.001, "worse": True})
OPEN = SAME.model_copy(update={"p": None})


@pytest.mark.parametrize(
    ("codes", "worst"),
    [
        ((0, 0), 0), ((0, 2), 2), ((2, 1, 0), 1), ((1, 3, 2), 3), ((0, 69), 69), ((69, 1), 1), ((2, 64), 64),
        ((70, 69), 70), ((0, -9), 70), ((0, 99), 70), ((0, None), 2), ((1, None), 1), ((1, 130, None), 130),
        ((130, 3), 3), ((), 2),
    ],
)  # fmt: skip
def test_the_worst_of_its_runs(codes: tuple[int | None, ...], worst: int) -> None:
    """Unhealed before interrupted before failed; what was not run is open, and a gate of nothing is no pass."""
    assert exit_code(gate(*(attempt(repeat=n, exit_code=code) for n, code in enumerate(codes, 1)))) == worst


def test_every_code_has_its_place() -> None:
    """One that were missing would end in an error of ours."""
    assert set(WORST_FIRST) == set(ExitCode)


@pytest.mark.parametrize(
    ("comparisons", "code"), [((SAME,), 0), ((SAME, WORSE), 1), ((SAME, OPEN), 2), ((WORSE, OPEN), 1), ((), 2)]
)
def test_with_a_baseline(comparisons: tuple[FigureComparison, ...], code: int) -> None:
    """Worse fails; what could not be compared, or nothing at all, is inconclusive."""
    assert exit_code(gate(attempt(), baseline="/b", comparisons=comparisons)) == code
