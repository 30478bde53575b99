"""Looks for runs that a check clears at a glance, and of which Spark finds rows: undue passes.

``./dev bench glances [--n 400] [--seed 1] [--together 24] [--minutes M] [--check NAME ...]``. Histories of
``tests/analysis`` are changed at random, in a few of some seventy ways (``tests/twisted``), so that most are nearly
possible. Of each history, what every check's glance and screens rule out, and its rows by numpy if it has those, are
compared with its rows by Spark. What differs is told, with the fewest changes that it takes. Ends with 1 if any does.

Spark is asked about ``--together`` histories at once. ``--seed`` is that of the first history; each has the next one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent.parent
sys.path[:] = [each for each in sys.path if Path(each) != HERE / "bench"]
sys.path.insert(0, str(HERE / "tests"))

from pyspark.sql import SparkSession  # noqa: E402
from twisted.making import Recipe, recipe  # noqa: E402 - of the tests, which the path has to name first
from twisted.opinions import Disagreement, confirmed, disagreements  # noqa: E402
from twisted.side_by_side import alike, queried  # noqa: E402

from chaosk.analysis.check_runner import checks  # noqa: E402
from chaosk.analysis.spark import session, tune  # noqa: E402

SHOWN = 2
"""Rows that are shown of each side."""


def groups(recipes: Sequence[Recipe], most: int) -> list[list[Recipe]]:
    """Return the recipes in groups of histories that can stand side by side, the largest first."""
    found: dict[str, list[list[Recipe]]] = {}
    made = [(each, each.make()) for each in recipes]
    for each, history in sorted(made, key=lambda pair: queried(pair[1])):
        mine = found.setdefault(alike(history), [[]])
        if len(mine[-1]) == most:
            mine.append([])
        mine[-1].append(each)
    return sorted((group for mine in found.values() for group in mine), key=len, reverse=True)


def smallest(spark: SparkSession, made: Recipe, check: str, folder: Path) -> tuple[Recipe, Disagreement | None]:
    """Return the recipe with as few twists as the disagreement takes, and what it then is."""
    kinds, last = {check: checks()[check]}, None
    smaller = made.smaller()
    while (tried := next(smaller, None)) is not None:
        with tempfile.TemporaryDirectory(dir=folder) as own:
            told = disagreements(spark, [tried.make()], Path(own), kinds)
        if told:
            made, last, smaller = tried, told[0], tried.smaller()
    return made, last


def look(spark: SparkSession, group: Sequence[Recipe], folder: Path, chosen: Sequence[str]) -> Iterator[str]:
    """Yield what there is to say of each disagreement about a group."""
    kinds = {name: kind for name, kind in checks().items() if not chosen or name in chosen}
    with tempfile.TemporaryDirectory(dir=folder) as own:
        told = list(confirmed(spark, [each.make() for each in group], Path(own), kinds))
    for each in told:
        made, last = smallest(spark, group[each.number], each.check, folder)
        shown = last or each
        rows = [("by Spark", row) for row in shown.spark if row not in shown.plain][:SHOWN]
        rows += [("by numpy", row) for row in shown.plain if row not in shown.spark][:SHOWN]
        yield "\n".join([f"{each.check}: {shown.what}; {made}", *(f"    {whose}: {row}" for whose, row in rows)])


def main() -> int:
    """Make, ask, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=400, help="histories")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", type=int, default=24, help="histories that Spark is asked about at once")
    parser.add_argument("--minutes", type=float, default=24 * 60.0, help="begin nothing after so long")
    parser.add_argument("--check", action="append", choices=sorted(checks()), default=[])
    options = parser.parse_args()
    began, asked, found = time.monotonic(), 0, 0
    spark = session("local[1]")
    tune(spark, small=True)
    recipes = [recipe(seed) for seed in range(options.seed, options.seed + options.n)]
    with tempfile.TemporaryDirectory() as folder:
        for group in groups(recipes, options.together):
            if time.monotonic() > began + 60 * options.minutes:
                break
            for words in look(spark, group, Path(folder), options.check):
                found += 1
                print(words, flush=True)
            asked += len(group)
            seconds = time.monotonic() - began
            print(f"{asked} histories, {found} disagreements, {seconds:.0f} s", file=sys.stderr, flush=True)
    spark.stop()
    print(f"{asked} histories, {found} disagreements")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
