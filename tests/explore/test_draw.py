"""Draws: within what was declared, valid as scenarios, the same for the same seed wherever they are made."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_documents import written
from sample_explore import OVERLAPPING, SPACE, space
from sample_inventory import INVENTORY

from chaosk.campaign.explore.draw import MOST_DRAWS, draw
from chaosk.campaign.explore.feasibility import check, refusal
from chaosk.campaign.explore.sequence import Sequence, document, entry, text
from chaosk.campaign.explore.space import Space
from chaosk.core.errors import PreflightError, UsageError
from chaosk.document import load_scenario

SEEDS = st.integers(0, 2**63 - 1)
ROUNDS = st.integers(1, 1000)


@cache
def known(document_: str = SPACE) -> Space:
    """One of the sample spaces."""
    return space(Path(mkdtemp()), document_)


def nothing(sequence: Sequence) -> str | None:
    """Refuses none."""
    return None


@settings(max_examples=60)
@given(SEEDS, ROUNDS, st.sampled_from([SPACE, OVERLAPPING]))
def test_what_is_drawn_is_declared(seed: int, number: int, document_: str) -> None:
    """How many, how far apart, which faults, with which values, for how long."""
    from_ = known(document_)
    sequence = draw(from_, seed, number, nothing).sequence
    assert 2 <= len(sequence) <= 5
    assert [move.name for move in sequence] == [f"fault-{n}" for n in range(1, len(sequence) + 1)]
    starts = [move.start for move in sequence]
    gaps = [b - a for a, b in zip([0.0, *starts], starts, strict=False)] if from_.explore.overlap else starts
    assert all(1.0 - 1e-6 <= gap <= 3.0 + 1e-6 for gap in gaps)
    targets = [["leader(orders, 0)", "follower(orders, 0)"], ["host(followers(orders, 0))", "everyone else"]]
    for move in sequence:
        made: Any = entry(from_, move)
        if move.fault == 0:
            assert made["cut_network"]["between"][1] in targets[1]
            assert 5.0 <= (move.lasts or 0) <= 20.0
        elif move.fault == 1:
            assert made["kill_broker"]["target"] in targets[0]
            assert made["when"] == "isr_full(orders)"
            assert 1.0 <= (move.lasts or 0) <= 9.0
        elif move.fault == 2:
            assert made["for"] in ("2s", "4s")
        else:
            assert made == {"elect_leader": {"topic": "orders", "election": "preferred"}}


@settings(max_examples=40)
@given(SEEDS, ROUNDS, st.sampled_from([SPACE, OVERLAPPING]))
def test_it_is_a_scenario_as_any_other(seed: int, number: int, document_: str) -> None:
    """Written to a file and loaded: all safety rules of the language hold, and what was drawn is what is done."""
    from_ = known(document_)
    sequence = draw(from_, seed, number, refusal(from_, None)).sequence
    path = written(from_.file.parent, text(document(from_, sequence, "x"), ["a comment"]), "drawn.yaml")
    scenario = load_scenario(path)
    assert [one.name for one in scenario.timeline] == [*(move.name for move in sequence), "whole"]
    for move, one in zip(sequence, scenario.timeline, strict=False):
        if move.lasts is not None:
            assert one.lasts == move.lasts
        assert one.at == move.start if one.at is not None else one.after is not None
    assert scenario.expect.bounds.keys() == {"lost_records"}
    assert scenario.settle == 2.0


def test_faults_that_do_not_overlap_wait_for_each_other() -> None:
    """The first starts at a time, each other one so long after the one above it is over."""
    from_ = known()
    sequence = draw(from_, 7, 1, nothing).sequence
    path = written(from_.file.parent, text(document(from_, sequence, "x")), "drawn.yaml")
    first, *others = load_scenario(path).timeline[: len(sequence)]
    assert first.at == sequence[0].start
    for before, one, move in zip([first, *others], others, sequence[1:], strict=False):
        assert one.after is not None
        assert (one.after.entry, one.after.is_, one.after.delay) == (before.name, "done", move.start)


def test_where_they_overlap_the_end_waits_for_the_last() -> None:
    """What ends every sequence comes after the fault that is to be over last, which need not be the last to start."""
    from_ = known(OVERLAPPING)
    for number in range(1, 30):
        sequence = draw(from_, 5, number, refusal(from_, None)).sequence
        path = written(from_.file.parent, text(document(from_, sequence, "x")), "drawn.yaml")
        timeline = load_scenario(path).timeline
        after = timeline[-1].after
        assert after is not None
        ends = {one.name: (one.at or 0.0) + (one.lasts or 0.0) for one in timeline[:-1] if one.lasts}
        if all(move.lasts is not None for move in sequence):
            assert ends[after.entry] == max(ends.values())


@settings(max_examples=30)
@given(SEEDS)
def test_another_round_or_seed_is_another_sequence(seed: int) -> None:
    """Of twelve there are hardly two of a kind."""
    rounds = {draw(known(), seed, number, nothing).sequence for number in range(1, 13)}
    seeds = {draw(known(), seed + step, 1, nothing).sequence for step in range(12)}
    assert len(rounds) > 9
    assert len(seeds) > 9


DRAWN = """
import sys
from pathlib import Path
from chaosk.campaign.explore.space_file import load_space
from chaosk.campaign.explore.draw import draw
from chaosk.campaign.explore.feasibility import check, refusal
from chaosk.campaign.explore.sequence import document, text
space = load_space(Path(sys.argv[1]))
for number in (1, 2, 3):
    drawn = draw(space, 7, number, refusal(space, None))
    print(drawn.seed, text(document(space, drawn.sequence, "x")))
"""


def test_the_same_seed_is_the_same_document_in_every_process() -> None:
    """Whatever hash randomization makes of sets and dicts."""
    shown = {
        subprocess.run(
            [sys.executable, "-c", DRAWN, str(known().file)],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(shown) == 1
    assert shown.pop().count("fault-1\n") == 3


def test_what_a_seed_means_is_a_promise() -> None:
    """A sequence as it was drawn when the promise was made: a seed that was noted down is worth something later."""
    drawn = draw(known(), 7, 1, nothing)
    assert drawn.seed == PROMISED_SEED
    assert [(move.fault, move.picks, move.lasts, move.start) for move in drawn.sequence] == PROMISED


PROMISED_SEED = 2756567613
PROMISED = [(0, (1,), 10.0, 1.5), (2, (0,), None, 2.0), (0, (0,), 5.6, 1.4), (2, (0,), None, 1.0)]


def test_what_is_refused_is_drawn_again() -> None:
    """The next draw of that round, told with the reasons; the same again with the same seed."""

    def odd(sequence: Sequence) -> str | None:
        return "an odd number of faults" if len(sequence) % 2 else None

    drawn = [draw(known(), 3, number, odd) for number in range(1, 40)]
    assert {len(one.sequence) % 2 for one in drawn} == {0}
    assert {why for one in drawn for why in one.refused} == {"an odd number of faults"}
    assert drawn == [draw(known(), 3, number, odd) for number in range(1, 40)]


def test_a_space_in_which_all_is_refused_is_a_mistake() -> None:
    """It does not go on for ever: the message has the reason, and what to do."""
    with pytest.raises(UsageError, match=rf"(?s)round 4 of seed 3: {MOST_DRAWS} sequences.*widen.*too late today"):
        draw(known(), 3, 4, lambda sequence: "too late today")


STOPS = "{stop_broker: {target: {any: [broker 0, broker 1, broker 2]}}, for: 30s}"
PAUSES = "{pause_broker: {target: broker 1}, for: {min: 2s, max: 6s}}"


def only(folder: Path, fault: str) -> Space:
    """A space of one fault, which may overlap itself."""
    start, _, rest = OVERLAPPING.replace("variables: {most: 20s}\n", "").partition("    - cut_network")
    return space(folder, f"{start}    - {fault}\n  count:{rest.partition('  count:')[2]}")


def test_what_the_language_refuses_is_not_run(tmp_path: Path) -> None:
    """Two faults that hold the same broker at the same time for sure: drawn, and refused by the loader of scenarios."""
    from_ = only(tmp_path, PAUSES)
    drawn = [draw(from_, 1, number, refusal(from_, None)) for number in range(1, 10)]
    assert any("fault-1 still affects broker(1) at that time" in why for one in drawn for why in one.refused)
    for one in drawn:
        ends = [move.start + (move.lasts or 0.0) for move in one.sequence]
        assert all(end <= move.start for end, move in zip(ends, one.sequence[1:], strict=False))


def test_what_is_not_safe_on_the_cluster_is_not_run(tmp_path: Path) -> None:
    """All brokers at once, though no fault alone takes more than one: refused on that inventory, and drawn again."""
    from_ = only(tmp_path, STOPS)
    drawn = [draw(from_, 1, number, refusal(from_, INVENTORY)) for number in range(1, 20)]
    assert any("it would leave none of the 3 brokers" in why for one in drawn for why in one.refused)
    assert {len(one.sequence) for one in drawn} == {2}


def test_what_the_cluster_lacks_is_told_before_anything(tmp_path: Path) -> None:
    """A broker that is not there, in a value that is hardly ever drawn: by its place; and too small a cluster."""
    from_ = only(tmp_path, STOPS.replace("broker 2", "broker 7"))
    with pytest.raises(UsageError, match=r"explore.faults\[0\]: .*broker 7"):
        check(from_, INVENTORY)
    check(only(tmp_path, STOPS), INVENTORY)
    large = dict(from_.scenario) | {"cluster": {"brokers": 4}}
    with pytest.raises(PreflightError, match="needs exactly 4 brokers, lab has 3"):
        check(replace(from_, scenario=large), INVENTORY)
