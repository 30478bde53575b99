"""What numpy and Spark say of the same histories, check by check, and where they disagree.

Of each history numpy is asked by itself, as the analysis asks it: whether a check is cleared by its glance or by its
screens, and its rows without Spark, if it has those. Spark is asked for the rows of many histories side by side. What
they disagree about is then asked again of that history alone, and only that counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from analysis.history import History, Row
from pyspark.sql import SparkSession
from twisted.side_by_side import own, side_by_side

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_runner import checks, queries
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.events import Events
from chaosk.analysis.recreated.renumber import apart
from chaosk.analysis.screens import screened
from chaosk.core.errors import ChaoskError

Rows = list[Row]
Kinds = Mapping[str, type[Check]]


@dataclass(frozen=True, slots=True)
class Opinion:
    """What numpy says of one check."""

    cleared: str | None
    """Who rules out that there are rows: ``glance`` or ``screens``; None if nobody does."""
    plain: Rows | None
    """The rows without Spark, if the check has those."""
    crash: str | None = None
    """What was raised."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A check of which numpy and Spark do not say the same."""

    number: int
    """Of the history."""
    check: str
    what: str
    spark: Rows
    plain: Rows


class NeedsSparkError(Exception):
    """Something asks for Spark that must do without."""


def disagreements(
    spark: SparkSession, histories: Sequence[History], folder: Path, kinds: Kinds | None = None
) -> list[Disagreement]:
    """Return where numpy and Spark disagree about histories that can stand side by side; not yet asked again."""
    kinds = checks() if kinds is None else kinds
    alone = [at_a_glance(history, folder / str(number), kinds) for number, history in enumerate(histories)]
    wanted = {name: kinds[name] for name in kinds if any(map(_answered, (each[name] for each in alone)))}
    found = by_spark(spark, side_by_side(histories), folder / "whole", wanted)
    told = []
    for number, opinions in enumerate(alone):
        for name, opinion in opinions.items():
            answer = found.get(name, [])
            if opinion.crash or isinstance(answer, str):
                told.append(Disagreement(number, name, f"crashed: {opinion.crash or answer}", [], []))
                continue
            owned = [own(row) for row in answer] if len(histories) > 1 else [(number, row) for row in answer]
            rows = [row for whose, row in owned if whose in (number, None)]
            if what := _differ(opinion, rows):
                told.append(Disagreement(number, name, what, rows, opinion.plain or []))
    return told


def confirmed(
    spark: SparkSession, histories: Sequence[History], folder: Path, kinds: Kinds | None = None
) -> Iterator[Disagreement]:
    """Yield each disagreement that stays if its history is asked alone."""
    for place, each in enumerate(disagreements(spark, histories, folder, kinds)):
        if len(histories) == 1:
            yield each
            continue
        mine = {each.check: checks()[each.check]}
        for still in disagreements(spark, [histories[each.number]], folder / f"again{place}", mine):
            yield Disagreement(each.number, still.check, still.what, still.spark, still.plain)


def at_a_glance(history: History, folder: Path, kinds: Kinds) -> dict[str, Opinion]:
    """Return what numpy says of one history, by check; without Spark."""
    with _events(history, folder, _no_spark) as events:
        screens = {screen for screen, count in screened(events).items() if count}
        return {name: _opinion(events, kind, screens) for name, kind in kinds.items()}


def by_spark(spark: SparkSession, history: History, folder: Path, kinds: Kinds) -> dict[str, Rows | str]:
    """Return the rows of each check by Spark, or what it raised."""
    found: dict[str, Rows | str] = {}
    with _events(history, folder, spark) as events:
        for name, kind in kinds.items():
            mine, check = (events.whole if kind.as_recorded else events), kind()
            try:
                frame = check.violations(mine) if queries(check) else None
                found[name] = [] if frame is None else [row.asDict(recursive=True) for row in frame.collect()]
            except Exception as error:  # noqa: BLE001 - of any check: a crash is what is looked for
                found[name] = _said(error)
        events.release()
    return found


@contextmanager
def _events(history: History, folder: Path, spark: SparkSession | Callable[[], SparkSession]) -> Iterator[Events]:
    recorded = read_case(history.write(folder))
    with apart(recorded) as case:
        yield Events(spark, case, None if case is recorded else Events(spark, recorded))


def _no_spark() -> NoReturn:
    raise NeedsSparkError


def _opinion(events: Events, kind: type[Check], screens: set[str]) -> Opinion:
    mine, check = (events.whole if kind.as_recorded else events), kind()
    try:
        seen, plain = check.glance(mine.rows), _plain(check, mine)
    except ChaoskError:
        raise
    except Exception as error:  # noqa: BLE001 - as above
        return Opinion(None, None, _said(error))
    if not queries(check):
        return Opinion(None, None)
    if not seen:
        return Opinion("glance", plain)
    return Opinion("screens" if check.screens and not screens & set(check.screens) else None, plain)


def _plain(check: Check, events: Events) -> Rows | None:
    try:
        rows = check.plain(events)
    except NeedsSparkError:
        return None
    return None if rows is None else list(rows)


def _answered(opinion: Opinion) -> bool:
    """Whether numpy says something that Spark can contradict."""
    return opinion.cleared is not None or opinion.plain is not None


def _differ(opinion: Opinion, rows: Rows) -> str | None:
    if opinion.cleared and rows:
        return f"cleared by its {opinion.cleared}; rows by Spark: {len(rows)}"
    if opinion.plain is not None and _sorted(opinion.plain) != _sorted(rows):
        return f"rows by numpy: {len(opinion.plain)}, by Spark: {len(rows)}"
    return None


def _sorted(rows: Rows) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


def _said(error: Exception) -> str:
    lines: Any = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"
