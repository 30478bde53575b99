"""Judging many stories at once, and holding the answers against the truth and against the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from truth.reference import RULES, reference
from truth.story import Planted, Story
from truth.together import evidence, together
from truth.told import Rows, compared, telling

from chaosk.analysis.analyze import analyze
from chaosk.analysis.check_runner import checks
from chaosk.analysis.checks._contract import Check

AT_ONCE = 40
"""Stories of each kind in one run directory."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One check that answered wrongly about one story."""

    seed: int
    check: str
    missed: tuple[Any, ...]
    false: tuple[Any, ...]


@dataclass(slots=True)
class Tally:
    """What was judged, and how well."""

    stories: Counter[str] = field(default_factory=Counter)
    """By kind: flawless, planted, havoc."""
    plants: Counter[str] = field(default_factory=Counter)
    expected: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By check and severity, rows that were planted."""
    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By check and severity, rows of the reference."""
    differences: list[Difference] = field(default_factory=list)

    def add(self, kind: str, story: Story, answer: Rows) -> None:
        """Hold an answer about a story against what is known."""
        self.stories[kind] += 1
        self.plants.update(story.plants)
        self.expected.update((each.check, each.severity) for each in story.expected)
        right = reference(story, answer)
        self.rows.update((check, row["severity"]) for check, rows in right.items() for row in rows)
        self.differences.extend(differences(story, answer, right))

    def __str__(self) -> str:
        """A table for people."""
        lines = [f"stories   {_sums(self.stories)}", f"plants    {_sums(self.plants)}"]
        lines.append(f"{'check':<22}{'severity':<14}{'planted':>8}{'rows':>8}")
        for check, severity in sorted({*self.expected, *self.rows}):
            counts = self.expected[check, severity], self.rows[check, severity]
            lines.append(f"{check:<22}{severity:<14}{counts[0]:>8}{counts[1]:>8}")
        missed = sum(len(each.missed) for each in self.differences)
        false = sum(len(each.false) for each in self.differences)
        return "\n".join([*lines, f"missed {missed}, false {false}", *(str(each) for each in self.differences[:5])])


def differences(story: Story, answer: Rows, right: Rows) -> list[Difference]:
    """Where an answer is another than the reference's, which is right, and than what was planted."""
    found = []
    for check in right:
        wanted, given = compared(check, right[check]), compared(check, answer.get(check, []))
        if wanted != given:
            found.append(Difference(story.seed, check, tuple(wanted - given), tuple(given - wanted)))
    said = telling(answer)
    for check in sorted({each.check for each in said ^ story.expected} & set(right)) if story.known else ():
        missed, false = (_of(check, rows) for rows in (story.expected - said, said - story.expected))
        found.append(Difference(story.seed, check, missed, false))
    return found


def answers(
    spark: SparkSession, stories: Sequence[Story], root: Path, kinds: dict[str, type[Check]], lives: int = 1
) -> list[Rows]:
    """By story, or by so many in a block, what the checks say: all in one run, in which groups have the same names."""
    cut = set[str]().union(*(story.cut_off() for story in stories))
    for story in stories:
        story.cut = cut
    rundir = together(stories, root, lives)
    verdict = analyze(spark, rundir, kinds)
    assert "check_crashed" not in {guard.guard for guard in verdict.guards}, verdict.guards
    return evidence(rundir, len(stories) // lives, kinds, lives)


def judged_rules() -> dict[str, type[Check]]:
    """The checks that have a reference."""
    return {name: kind for name, kind in checks().items() if name in RULES}


def _sums(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _of(check: str, rows: set[Planted]) -> tuple[Planted, ...]:
    return tuple(row for row in rows if row.check == check)


Make = Callable[[int], Story]
"""A story from its seed."""
