"""Records that are in the log twice."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.acknowledged import acknowledged
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.counts import counted, shares
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.cut_copies import MAYBE, RETRIED, with_cut_copies
from chaosk.analysis.frames.packed import offset_of, partition_of, topic_of
from chaosk.analysis.frames.retries import maybe_resent, resent, with_retries
from chaosk.analysis.frames.sends import with_settings
from chaosk.analysis.frames.values import values
from chaosk.rundir.verdict import Measure


class DuplicateInLog(Check):
    """A record that was sent once is in the log at two positions, in one partition or in two.

    A2, after the definitions of Jepsen's Kafka workload (``duplicate``). The application never sends a value twice, so
    a second copy comes from a retry inside the client. Positions are those that readers and the tail audit saw, and the
    one in the acknowledgement.

    Allowed without ``enable.idempotence`` if something shows that a retry was possible, which may write twice: the
    record was not acknowledged; its outcome took as long as a request may (``request.timeout.ms``); or the client met
    an error, a fault lasted or the partition's leader changed between send and outcome, or within five seconds.
    Without any of these it is unproven. With ``retries: 0`` only a change of leader counts, after which librdkafka
    sends again all the same; else it is a violation, or unproven if the leader was not observed.

    Also allowed if one of the positions is in a topic that was deleted and recreated before the record was
    acknowledged: the retry went to the new topic, which does not know the producer. A record that was acknowledged,
    deleted and is in the new topic is a violation.

    Also allowed is a copy in a log that an unclean election, or a loss of power, had cut back, if the cut had removed
    the earlier copy: the new leader does not know that the batch is a retry. Unproven if that is not certain.

    Columns: the value, topic, partition, offset (the lowest position), other_topic, other_partition, other_offset (the
    highest), outcome, idempotent.
    """

    rule = "A2"
    title = "records that stand in the log more than once"
    counted = ("record duplicated", "records duplicated")
    metrics = ("duplicate_records", "duplicate_share")
    tables = ("sends", "reads", "audit", "incarnations", "partitions", "errors", "connections")
    order = (*PLACE, "offset", *VALUE)
    screens = ("doubled",)
    suspects = ("librdkafka #4134", "librdkafka #1092", "librdkafka #2782")

    def violations(self, events: Events) -> DataFrame:
        """Return values with two positions or more."""
        low = F.least("first", "acked")  # both ignore nulls
        high = F.greatest("last", "acked")
        doubled = events.frame(values).filter(F.col("first").isNotNull() & (low != high))
        across = events.case.former.sent_across(F.col("other_topic"), F.col("other_partition"))
        others = {
            "other_topic": topic_of(events.case, high),
            "other_partition": partition_of(high),
            "other_offset": offset_of(high),
        }
        lowest = {"topic": topic_of(events.case, low), "partition": partition_of(low), "offset": offset_of(low)}
        loose = ~F.col("idempotent")
        return (
            with_retries(events, with_cut_copies(events, with_settings(events, doubled)).withColumns(lowest))
            .withColumns(others)
            .withColumns(
                meaning(
                    (F.col("idempotent").isNull(), "unproven", "the settings of its producer are unknown"),
                    (across, "allowed", "its topic was deleted and made again before it was acknowledged"),
                    (F.col("copied") == RETRIED, "allowed", RETRIED),
                    (F.col("copied") == MAYBE, "unproven", MAYBE),
                    *resent(loose, "enable.idempotence is off: a retry may write a record twice"),
                    *maybe_resent(loose),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .select(*MEANING, *VALUE, *PLACE, "offset", *others, "outcome", "idempotent")
        )

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``duplicate_records`` and ``duplicate_share`` of each topic; they include allowed ones."""
        counts = tuple(counted(events.case, found, "duplicate_records", "topic", tuple(events.case.topics)))
        yield from counts
        yield from shares("duplicate_share", counts, events.once(acknowledged))
