"""Without Spark: the glances and screens of a small run spare Spark no question that the reference has an answer to."""

from __future__ import annotations

from pathlib import Path

import pytest
from truth.generate import flawless
from truth.havoc import havoc
from truth.judged import judged_rules
from truth.plants import planted
from truth.reference import reference
from truth.together import together

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.glances.screens import glanced

pytestmark = pytest.mark.long

STORIES = 44


def test_a_check_with_rows_is_looked_at(tmp_path: Path) -> None:
    """One by one, planted and after havoc: where the reference has rows, glance and screens of the check say so."""
    missed, asked = [], 0
    for seed in range(STORIES):
        story = planted(seed) if seed % 2 == 0 else havoc(flawless(seed))
        rows = EventRows(read_case(together([story], tmp_path / str(seed))))
        screens, right = glanced(rows), reference(story)
        for name, kind in judged_rules().items():
            spared = not kind().glance(rows) or (kind.screens and not any(screens[each] for each in kind.screens))
            asked += bool(right[name])
            missed += [(seed, name)] if right[name] and spared else []
    assert missed == []
    assert asked > STORIES
