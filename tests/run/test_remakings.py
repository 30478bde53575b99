"""The moments that part one topic from the next one of its name."""

from __future__ import annotations

from typing import Any, cast

import pytest

from chaosk.run import remakings
from chaosk.run.remakings import Remakings
from chaosk.spec.topic_shape import TopicShape

SHAPE = TopicShape(topic="orders", identity="old")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> tuple[Remakings, list[tuple[str, int, int]]]:
    """One whose clock goes 1, 2, 3 ..., and what it told."""
    clock = iter(range(1, 100))
    monkeypatch.setattr(remakings, "now", lambda: next(clock))
    rows: list[tuple[str, int, int]] = []
    made = Remakings(cast("Any", None))
    made.tell = lambda *row: rows.append(row)
    return made, rows


def test_when_it_was_gone_and_when_it_was_asked_for(told: tuple[Remakings, list[tuple[str, int, int]]]) -> None:
    """Each time that it is deleted and made again."""
    made, rows = told
    for _ in range(2):
        made.gone("orders")
        made.making(SHAPE, lambda: None)
    assert rows == [("orders", 1, 2), ("orders", 3, 4)]


def test_a_host_may_have_made_it_already(told: tuple[Remakings, list[tuple[str, int, int]]]) -> None:
    """Then nobody knows when, only that it was after it was gone."""
    made, rows = told
    made.gone("orders")
    made.making(SHAPE, lambda: "new")
    assert rows == [("orders", 1, 1)]


def test_a_topic_that_was_not_deleted_is_not_told_of(told: tuple[Remakings, list[tuple[str, int, int]]]) -> None:
    """The undo of a step that broke off before it deleted anything; one whose deletion came late is told of."""
    made, rows = told
    made.making(SHAPE, lambda: "old")
    assert rows == []
    made.making(SHAPE, lambda: None)
    assert rows == [("orders", 1, 1)]
