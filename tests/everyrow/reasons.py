"""Why some rows carry nothing: mutants that pass, and rightly."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Reason:
    """Why mutants pass; ``*`` stands for anything, ``|`` is between those that it holds for."""

    table: str
    kind: str
    operator: str
    why: str
    workload: str = "*"
    way: str = "*"

    def holds(self, name: tuple[str, ...]) -> bool:
        """Whether it is said of a mutant of this name."""
        workload, table, kind, operator, way = name
        pairs = (
            (self.workload, workload), (self.table, table), (self.kind, kind), (self.operator, operator),
            (self.way, way),
        )  # fmt: skip
        return all(any(fnmatchcase(word, one) for one in pattern.split("|")) for pattern, word in pairs)


_MOMENT = "earlier|later|swap"
_SAMPLE = "one sample of many, a second apart: a fault, an outage or an election is told by all that there are"
_NO_FIGURE = "no objective asks for the figure that it is for, and no rule reads it"
_TWICE = "the same row twice says nothing new"
_TWO_SECONDS = "two seconds change no order that a rule looks at"
_SUPERSEDED = "a later one stands for it: what the group had committed in the end is what counts"
_WHOLE = "what the audit read is there, row by row: a range bounds only what is not"
_EXPLAINS = "what the hosts' files say explains a finding, and excuses some: here there is none"

REASONS: tuple[Reason, ...] = (
    Reason("brokers|zookeepers|host_clocks", "*", "drop|repeat|earlier|later|swap", _SAMPLE),
    Reason("clocks|heartbeats", "*", "drop|repeat|earlier|later|swap", _SAMPLE),
    Reason("partitions", "*", "drop|repeat|earlier|later|swap|elsewhere", _SAMPLE),
    Reason("offsets", "*", "drop|repeat|earlier|later|swap|elsewhere", _SAMPLE),
    Reason("offsets", "*", "log_start *|high_watermark *|last_stable *|log_end *", _SAMPLE),
    Reason("health_checks|calls", "*", _MOMENT, _NO_FIGURE),
    Reason("connections|errors|generations|joins", "*", "drop|repeat|earlier|later|swap", _NO_FIGURE),
    Reason("polls", "*", "drop|repeat|earlier|later|swap", "what a poll brought is in reads; its time is a figure"),
    Reason("tallies", "* gap *", "count *", "a gap of less than a second is none, and this one is"),
    Reason("tallies|ends", "*", _MOMENT, "what a process counted holds until it ended, and it ended after all of it"),
    Reason("incarnations", "*", "earlier|later|swap|repeat", "its settings and that it was there do not change"),
    Reason("faults", "only", "earlier|later", "probes were at work two seconds before it and after it as well"),
    Reason("faults|phases", "*", "repeat", _TWICE),
    Reason("phases", "*", "earlier|later", "probes were at work, and all was well, two seconds sooner and later"),
    Reason("phases", "only warm_up", "drop", "nothing is measured in it"),
    Reason("topic_settings", "*", "drop|repeat|earlier|later", "settings excuse what is missing, and nothing is"),
    Reason("assignments", "* assign *", "earlier|later", _TWO_SECONDS),
    Reason("assignments", "* revoke *", "drop|earlier|later|elsewhere", "the last one: the member ended with it"),
    Reason("assignments", "*", "repeat", _TWICE),
    Reason("fetched", "*", "drop|repeat|earlier|later|elsewhere", "the group was given all that there is"),
    Reason("seeks", "*", "*", "what it went back to is in reads", workload="transforming"),
    Reason("commits", "first *|middle *", "drop|elsewhere|earlier|later|offset -1", _SUPERSEDED),
    Reason("commits", "*", "earlier|later|swap", _TWO_SECONDS),
    Reason("commits", "*", "repeat", _TWICE),
    Reason(
        "commits",
        "*",
        "offset +1",
        "there a marker stands, behind which the position is the same",
        workload="transactional",
    ),
    Reason(
        "commits",
        "last *",
        "drop|offset -1|elsewhere",
        "its successor went on from what it had read",
        workload="static",
    ),
    Reason("groups", "*", "repeat", _TWICE),
    Reason("groups", "only none *", "offset +1", "of a topic that the group does not read"),
    Reason("audit", "*", "repeat", "one offset read twice is one record"),
    Reason("audit", "* aborted *", "drop", "nobody is owed a record of a transaction that was aborted"),
    Reason(
        "audit", "*read_committed*", "drop", "compaction may have come between the two audits", workload="compacted"
    ),
    Reason("audit_ranges", "*", "end *|log_start *", _WHOLE),
    Reason("audit_ranges", "*", "repeat", _TWICE),
    Reason("reads", "*", _MOMENT, _TWO_SECONDS),
    Reason("sends", "last *", "later", _TWO_SECONDS, workload="transforming"),
    Reason("outputs", "*", _MOMENT, "which output is of which input nobody else says: each input has one"),
    Reason("copies|dumps|markers|stretches", "*", "*", _EXPLAINS),
    Reason("transactions", "*", "earlier|later|repeat|swap", _TWO_SECONDS),
    Reason("txn_offsets", "*", "earlier|later|repeat", _TWO_SECONDS),
    Reason("txn_offsets", "last *", "offset +1", "the log ends there: it passes no record"),
    Reason("txn_offsets", "first *|middle *", "drop|elsewhere|offset -1|swap", _SUPERSEDED),
)


def reason_of(name: tuple[str, ...]) -> Reason | None:
    """The first reason that is said of a mutant; None if there is none."""
    return next((reason for reason in REASONS if reason.holds(name)), None)
