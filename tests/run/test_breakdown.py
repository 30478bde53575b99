"""Where the time went: what is the scenario's own, what chaosk added."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chaosk.run.breakdown import OWN, added, sentence


def test_the_scenario_s_own_phases_are_not_added() -> None:
    """Baseline, timeline, healing and settling are what was asked for; a lab that had to come up is apart."""
    durations = {
        "lab": 60.0,
        "preflight": 1.0,
        "baseline": 5.0,
        "timeline": 20.0,
        "heal": 1.0,
        "settle": 10.0,
        "audit": 2.0,
    }
    assert added(durations) == 3.0


def test_the_sentence_has_every_added_phase() -> None:
    """A person sees at once which phase is slow."""
    text = sentence({"preflight": 1.04, "baseline": 5.0, "timeline": 20.0, "analysis": 4.0})
    assert text == "the scenario took 25.0 s; chaosk added 5.0 s (preflight 1.0, analysis 4.0)"


def test_nothing_measured_is_nothing_added() -> None:
    """A run broken off before its first phase."""
    assert added({}) == 0


@given(st.dictionaries(st.sampled_from([*OWN, "lab", "preflight", "audit", "report"]), st.floats(0, 1e4)))
def test_own_lab_and_added_are_all_there_is(durations: dict[str, float]) -> None:
    """No second is counted twice or forgotten."""
    own = sum(durations.get(phase, 0.0) for phase in OWN)
    total = own + durations.get("lab", 0.0) + added(durations)
    assert abs(total - sum(durations.values())) < 1e-6 * max(1.0, total)
