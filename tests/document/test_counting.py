"""A list that is too short because its items are wrong is not complained about as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_documents import written

from chaosk.document import DocumentError, load_scenario

HEAD = """\
name: n
hypothesis: h
topics: {orders: {}}
probes: {writer: {produce: {topic: orders}}}
"""


def problems(tmp_path: Path, timeline: str) -> list[str]:
    """What is said of a scenario with that timeline, without the places."""
    with pytest.raises(DocumentError) as refused:
        load_scenario(written(tmp_path, HEAD + timeline))
    return [f"{problem.path}: {problem.what}" for problem in refused.value.problems]


def test_one_wrong_entry_is_one_problem(tmp_path: Path) -> None:
    """The only entry has no unit behind its time: nothing is said of the length of the list."""
    (said,) = problems(tmp_path, 'timeline: [{at: 5, kill_broker: {target: "leader(orders, 0)"}}]\n')
    assert "5 is not a duration" in said


def test_an_empty_list_is_still_too_short(tmp_path: Path) -> None:
    """Where no item is wrong, the length is what is."""
    (said,) = problems(tmp_path, "timeline: []\n")
    assert said.startswith("timeline: ")
    assert "too short" in said
