"""Records that a group committed past and was never given."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.counts import counted
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.debts import while_away
from chaosk.analysis.frames.holdings import OWNED, holdings, in_blind
from chaosk.analysis.frames.suspects import suspected_audit, suspected_reads
from chaosk.analysis.frames.visible import dated
from chaosk.rundir.verdict import Measure


class CommitSkip(Check):
    """A record lies below the committed offset of a group, and no member of the group ever had it.

    B3: the group has lost the record permanently, in any order of reading. The record is in the log at read_committed,
    at or after the group's first position. Our consumers commit after processing, so a commit beyond a record that was
    not delivered is wrong. Automatic commits may run ahead of a process that is killed between poll and processing,
    which is allowed. If a killed process may have had the record without recording it, or if a member sought, the row
    is unproven. A record that was sent after the end of that process is neither: a process that has ended commits
    nothing. Nor is one that came between two members of a group that begins at the end of the log each time: it is not
    owed. A record that the group had and failed to process is judged by ``swallowed``.

    Columns: group, topic, partition, offset, the value, committed (the group's final committed offset).
    """

    rule = "B3"
    title = "records that a group committed past without having had them"
    counted = ("record committed past", "records committed past")
    metrics = ("skipped_records",)
    tables = ("audit", "reads", "commits", "groups", "fetched", "seeks", "assignments", "sends")
    by_absence_of = ("reads", "fetched", "seeks")
    order = (*OWNED, "offset")
    screens = ("lacking", "doubled")  # of a record at two positions, the group may have been given only one

    def violations(self, events: Events) -> DataFrame:
        """Return visible records below a group's committed offset that the group was not given."""
        done = events.frame(holdings)
        below = (
            suspected_audit(events)
            .filter(F.col("isolation") == "read_committed")
            .join(events.near(done), on=list(PLACE), how="inner")
            .filter((F.col("offset") >= F.coalesce("start", "lowest")) & (F.col("offset") < F.col("committed")))
        )
        had = suspected_reads(events).select(*OWNED, "offset")
        lacking = below.join(had, on=[*OWNED, "offset"], how="left_anti").select(
            *OWNED, "offset", *VALUE, "committed", "beyond", "automatic", "absences"
        )
        sought = F.coalesce(F.col("offset") < F.col("beyond"), F.lit(False))
        ahead = "automatic commits may run ahead of a process that is killed"
        return (
            in_blind(events, dated(events, lacking).filter(~while_away(F.col("invoked"))).drop("absences"))
            .withColumns(
                meaning(
                    (sought, "unproven", "a member sought in this partition"),
                    (F.col("automatic") & F.col("blind"), "allowed", ahead),
                    (F.col("blind"), "unproven", "a process that was killed may have had it: its log is cut short"),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("blind_since", "blind_until"))
            .select(*MEANING, *OWNED, "offset", *VALUE, "committed")
        )

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``skipped_records`` of each group: the proven ones, both violations and allowed ones."""
        skipped = found.where(("violation", "allowed"))
        return counted(events.case, skipped, "skipped_records", "group", events.case.groups)
