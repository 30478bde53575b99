"""The spaces that come with chaosk: what their draws are made of."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import shipped

from chaosk.campaign.explore.draw import draw
from chaosk.campaign.explore.feasibility import refusal
from chaosk.campaign.explore.sequence import entry, kinds
from chaosk.campaign.explore.space_file import load_space
from chaosk.document.kinds import is_space

FOLDER = Path(__file__).parents[2] / "scenarios" / "explore"
DRAWS = 200
ISOLATED = ["host(leader(orders, 0))", "host(followers(orders, 0))"]
"""A leader cut off from its cluster and not from its clients: the one way there is to lose many records by acks=1."""


def test_they_are_where_spaces_are() -> None:
    """Every space lies in its folder, and nothing else does: what runs scenarios passes over it."""
    assert len(shipped.SPACES) >= 2
    assert all(map(is_space, shipped.SPACES))
    assert not any(map(is_space, shipped.SCENARIOS))


def test_the_loss_is_in_the_space_and_is_not_all_of_it() -> None:
    """From a quarter to three quarters of all draws isolate a leader; there are as many others of every kind."""
    space = load_space(FOLDER / "acks1.yaml")
    drawn = [draw(space, seed, 1, lambda sequence: None).sequence for seed in range(DRAWS)]
    isolating = sum(
        any(entry(space, move).get("cut_network") == {"between": ISOLATED} for move in one) for one in drawn
    )
    assert 0.25 * DRAWS < isolating < 0.75 * DRAWS
    found = Counter(kind for one in drawn for kind in set(kinds(space, one)))
    assert min(found[kind] for kind in ("kill_broker", "pause_broker", "elect_leader", "cut_network")) > 0.25 * DRAWS


@pytest.mark.parametrize("stem", ["acks1", "acks-all"])
def test_hardly_a_draw_is_refused(stem: str) -> None:
    """What is declared fits together: rounds are not spent on drawing."""
    space = load_space(FOLDER / f"{stem}.yaml")
    assert sum(len(draw(space, seed, 1, refusal(space, None)).refused) for seed in range(20)) == 0
