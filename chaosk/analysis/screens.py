"""Screens: cheap queries that must find a row before a check can find any, all run in one job.

Most checks find nothing on most runs. A screen examines rows one by one, without joins. It finds every row that a check
with this screen could report, and some more. If it finds none, the check is clean without being run.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames.placements import crowded
from chaosk.analysis.frames.sought import sought
from chaosk.analysis.frames.steps import steps
from chaosk.analysis.frames.values import given_to, times_given, values
from chaosk.analysis.glances.screens import glanced
from chaosk.analysis.readers import owed

NAMES = ("missing", "doubled", "lacking", "repeated", "jumped", "sought", "backward", "crowded")
"""Every screen.

- missing: a value that was acknowledged or read, and that the audit did not find at both isolation levels, or found at
  only one of them.
- doubled: a value seen at two places.
- lacking: an acknowledged or audited value that a reader of its topic was not given.
- repeated: a value given to a reader more than once.
- jumped, backward: a delivery that does not follow the previous one.
- sought: a delivery beyond the position that its consumer sought.
- crowded: an offset at which different values were seen.
"""


def screened(events: Events) -> dict[str, int]:
    """Return the number of rows by screen.

    Records of other clients have no value; if there are any, ``lacking`` and ``repeated`` count as found. For a run
    that fits into memory, numpy determines which screens find any row.
    """
    if events.glances:
        return glanced(events.rows)
    rows = _counts(events.frame(values), _of_values(events))
    rows = rows.unionByName(_counts(events.frame(steps), _of_steps()))
    rows = rows.unionByName(_counts(events.frame(sought), {"sought": F.lit(True)}))
    rows = rows.unionByName(_counts(events.frame(crowded), {"crowded": F.lit(True)}))
    found = {str(row["name"]): int(row["count"]) for row in events.gathered(rows).collect()}
    if events.case.foreign:
        found["lacking"] += 1
        found["repeated"] += 1
    return found


def _counts(frame: DataFrame, screens: dict[str, Column]) -> DataFrame:
    counts = frame.agg(*(F.count_if(F.coalesce(holds, F.lit(False))).alias(name) for name, holds in screens.items()))
    pairs = F.array(*(F.struct(F.lit(name).alias("name"), F.col(name).alias("count")) for name in screens))
    return counts.select(F.explode(pairs).alias("pair")).select("pair.name", "pair.count")


def _of_values(events: Events) -> dict[str, Column]:
    doubled = (F.col("first") != F.col("last")) | (F.col("first") != F.col("acked"))
    case = events.case
    repeated = (times_given(case, reader) > 1 for reader in sorted({reader for _, reader in case.consumers}))
    lacking = (
        F.col("topic").isin(sorted(topics)) & ~given_to(case, F.lit(reader)) for reader, topics in owed(case).items()
    )
    gone = (F.col("written") | F.col("read")) & ~F.col("audited")
    return {
        "missing": gone | ((F.col("written") | F.col("plain")) & (F.col("stored") != F.col("visible"))),
        "doubled": doubled,
        "lacking": (F.col("written") | F.col("audited")) & _any(lacking),
        "repeated": _any(repeated),
    }


def _of_steps() -> dict[str, Column]:
    return {"jumped": F.col("offset") > F.col("before") + 1, "backward": F.col("offset") <= F.col("before")}


def _any(conditions: Iterable[Column]) -> Column:
    whole = F.lit(False)
    for condition in conditions:
        whole = whole | condition
    return whole
