"""One twisted history for each seed: the same one every time, and the same one but for some of its twists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from analysis.history import History
from twisted import of_cluster, of_columns, of_readers, of_records, of_writers
from twisted.bases import OFTEN, bases
from twisted.twist import TWISTS, renumbered

from chaosk.rundir.events import TABLES

MODULES = (of_cluster, of_columns, of_readers, of_records, of_writers)
"""What registers twists as it is imported."""
WIDER = ("second_group", "reader_alone", "two_partitions", "second_topic", "handed_over", "in_transactions",
         "commits_often", "epochs", "marked", "ends_told", "elected")  # fmt: skip
"""Twists that make a larger history of which all is well, mostly; they come first."""
COUNTS = (1, 1, 2, 2, 3, 4, 6)
"""How many twists a history has besides those."""

NEEDED = {name: [column.name for column in table.columns if not column.optional] for name, table in TABLES.items()}
"""By table, the columns that are never empty: a row without one could not be written."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a history is made."""

    seed: int
    base: str
    steps: tuple[tuple[int, str], ...]
    """Each twist with its number, which its choices depend on, so that others can be left out."""

    def make(self) -> History:
        """Make the history."""
        history = bases()[self.base]()
        for number, name in self.steps:
            TWISTS[name](history, _random(f"{self.seed} {number} {name}"))
        for table, rows in history.rows.items():
            history.rows[table] = [row for row in rows if not any(row[name] is None for name in NEEDED[table])]
        delivered = [(row["probe"], row["incarnation"], row["n"]) for row in history.rows["reads"]]
        if len({*delivered}) < len(delivered):
            renumbered(history)
        return history

    def smaller(self) -> Iterator[Recipe]:
        """Yield the recipes with one twist less."""
        for place in range(len(self.steps)):
            yield replace(self, steps=self.steps[:place] + self.steps[place + 1 :])

    def __str__(self) -> str:
        return f"seed {self.seed}: {', '.join([self.base, *(name for _, name in self.steps)])}"


def recipe(seed: int) -> Recipe:
    """Return the recipe that a seed stands for."""
    draw = _random(f"recipe {seed}")
    known = bases()
    base = draw.choice(OFTEN) if draw.random() < 0.5 else draw.choice(sorted(known))
    names = [name for name in WIDER if draw.random() < 0.15]
    names += draw.choices(sorted(TWISTS), k=draw.choice(COUNTS))
    return Recipe(seed, base, tuple(enumerate(names)))


def _random(words: str) -> Random:
    return Random(words)  # noqa: S311 - repeatable, not secret
