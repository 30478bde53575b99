"""The metrics of a run: figures that ``expect`` can bound, and that the analysis measures.

One table serves both sides: name in YAML, unit, kind of subject, meaning of a bare value, and the combination of
several subjects' figures into the run's figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chaosk.core.units import parse_duration, parse_rate, parse_share, spell_duration, spell_rate, spell_share

Unit = Literal["s", "records", "records/s", "count", "ratio"]
Subject = Literal["probe", "topic", "fault", "group"]
Bare = Literal["min", "max", "exact"]

WINDOWS = ("run", "baseline", "after_heal")
"""Windows of every run. Each timeline entry's name is one more: from applied until healed, or for an entry that leaves
nothing to undo (a wait, a restart), its whole duration."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One kind of figure."""

    name: str
    unit: Unit
    subject: Subject
    """The kind of its subjects."""
    bare: Bare
    """The meaning of ``metric: value``: at least, at most or exactly that value."""
    overall: Literal["max", "min", "sum"]
    """The run's figure, made of its subjects' figures: the worst one, or their sum."""
    says: str
    """Its description for users."""

    @property
    def timed(self) -> bool:
        """True if it is a duration."""
        return self.unit == "s"

    def parse(self, value: object) -> float:
        """Parse a written figure into the metric's unit; raises ValueError with a remedy."""
        if self.timed:
            return parse_duration(value)
        if self.unit == "records/s":
            return parse_rate(value)
        if self.unit == "ratio":
            return parse_share(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"{value!r} is not a count; write a whole number from 0 up, like 12")
        return float(value)

    def spell(self, figure: float) -> str | int:
        """Spell a figure as in a scenario; :meth:`parse` reads it back."""
        if self.timed:
            return spell_duration(figure)
        if self.unit == "ratio":
            return spell_share(figure)
        return spell_rate(figure) if self.unit == "records/s" else int(figure)

    @property
    def sample(self) -> str | int:
        """A plausible figure, for messages."""
        return self.spell(_SAMPLES.get(self.unit, 12.0))


_SAMPLES: dict[Unit, float] = {"s": 20.0, "records/s": 450.0, "ratio": 0.99}

_ALL = (
    Metric("unavailability", "s", "probe", "max", "max",
           "longest time of at least a second in which a probe had work to do and nothing succeeded"),
    Metric("unavailable_total", "s", "probe", "max", "max",
           "sum of all times of at least a second in which a probe had work to do and nothing succeeded"),
    Metric("availability", "ratio", "probe", "min", "min",
           "share of the seconds with records to write in which some were acknowledged (producer)"),
    Metric("latency_p50", "s", "probe", "max", "max",
           "from the intended time of a send to its acknowledgement, median (producer)"),
    Metric("latency_p99", "s", "probe", "max", "max",
           "from the intended time of a send to its acknowledgement, 99th percentile (producer)"),
    Metric("latency_max", "s", "probe", "max", "max",
           "from the intended time of a send to its acknowledgement, longest (producer)"),
    Metric("end_to_end_p99", "s", "probe", "max", "max",
           "from the intended time of a send to its delivery, 99th percentile (consumer)"),
    Metric("end_to_end_max", "s", "probe", "max", "max",
           "from the intended time of a send to its delivery, longest (consumer)"),
    Metric("realtime_lag_p99", "s", "probe", "max", "max",
           "age at a poll of the oldest record that a probe did not have yet, 99th percentile (consumer)"),
    Metric("realtime_lag_max", "s", "probe", "max", "max",
           "age at a poll of the oldest record that a probe did not have yet, longest (consumer)"),
    Metric("connect_availability", "ratio", "probe", "min", "min",
           "share of the health checks of a broker that were able to connect (health check)"),
    Metric("connect_unavailability", "s", "probe", "max", "max",
           "longest time of at least a second in which every health check of a broker failed (health check)"),
    Metric("connect_latency_p50", "s", "probe", "max", "max",
           "time from a health check's due time until it succeeded, median (health check)"),
    Metric("connect_latency_p99", "s", "probe", "max", "max",
           "time from a health check's due time until it succeeded, 99th percentile (health check)"),
    Metric("connect_latency_max", "s", "probe", "max", "max",
           "time from a health check's due time until it succeeded, longest (health check)"),
    Metric("call_time_p50", "s", "probe", "max", "max",
           "duration of answered calls, median (call)"),
    Metric("call_time_max", "s", "probe", "max", "max",
           "duration of the longest call, with any outcome (call)"),
    Metric("call_unavailability", "s", "probe", "max", "max",
           "longest time of at least a second from a call until one was answered (call)"),
    Metric("calls_answered", "count", "probe", "exact", "sum",
           "calls that were answered (call)"),
    Metric("calls_failed", "count", "probe", "exact", "sum",
           "calls that failed, including those that were given up (call)"),
    Metric("connections_opened", "count", "probe", "exact", "sum",
           "connections that a probe's clients opened (with `connections: true`)"),
    Metric("connections_failed", "count", "probe", "exact", "sum",
           "failed connection attempts of a probe's clients (with `connections: true`)"),
    Metric("connections_idle_closed", "count", "probe", "exact", "sum",
           "connections that were closed because they were idle (with `connections: true`)"),
    Metric("connections_peak", "count", "probe", "exact", "sum",
           "largest number of simultaneous connections of a probe's clients (with `connections: true`)"),
    Metric("connections_open", "count", "probe", "exact", "sum",
           "open connections of a probe's clients at the end of the window (with `connections: true`)"),
    Metric("recovery", "s", "fault", "max", "max",
           "time from a fault's verified undo until all probes perform as well as in the baseline"),
    Metric("recovery_from_fault", "s", "fault", "max", "max",
           "time from when a fault was in place until all probes perform as well as in the baseline"),
    Metric("election", "s", "topic", "max", "max",
           "longest change of a partition's leader: from when the old one last served until another one did"),
    Metric("leader_changes", "count", "topic", "exact", "sum",
           "number of times that a partition got a different leader"),
    Metric("displaced_leaders", "count", "topic", "exact", "sum",
           "partitions that were not led by their preferred leader when the window ended"),
    Metric("leaderless_time", "s", "topic", "max", "max",
           "longest time in which no broker named a leader of a partition"),
    Metric("two_leaders", "s", "topic", "max", "max",
           "longest time of at least a second in which two brokers each claimed to lead a partition"),
    Metric("leadership_return", "s", "fault", "max", "max",
           "time from a fault's verified undo until all partitions were led by their preferred leaders"),
    Metric("under_replicated_time", "s", "topic", "max", "max",
           "time in which some partition had fewer replicas in sync than replicas"),
    Metric("under_min_isr_time", "s", "topic", "max", "max",
           "time in which some partition had fewer replicas in sync than its topic's min.insync.replicas"),
    Metric("differing_replicas", "count", "topic", "exact", "sum",
           "partitions whose replicas have different contents after the run; compared only if this is bounded"),
    Metric("rebalance_time", "s", "group", "max", "max",
           "longest rebalance: from the first revocation until all members have their partitions"),
    Metric("start_time", "s", "probe", "max", "max",
           "longest time from when a probe's process was ready until its first record or answer"),
    Metric("close_time", "s", "probe", "max", "max",
           "longest time from when a probe's process was asked to end until it was gone"),
    Metric("assignment_time", "s", "group", "max", "max",
           "longest wait of a member for partitions: from subscribing, or losing its own, until an assignment"),
    Metric("join_time", "s", "group", "max", "max",
           "longest time until a member read: from subscribing, or losing its partitions, until its first record"),
    Metric("rebalances", "count", "group", "exact", "sum",
           "rebalances of a consumer group, without the first assignment"),
    Metric("new_generations", "count", "group", "exact", "sum",
           "generations of a consumer group that began in the window, as its members learned of them"),
    Metric("unnecessary_rebalances", "count", "group", "exact", "sum",
           "rebalances of a consumer group with the same members before and after"),
    Metric("moved_partitions", "count", "group", "exact", "sum",
           "number of times that a partition was assigned to a different member of a group"),
    Metric("acknowledgements", "records", "probe", "exact", "sum",
           "records acknowledged in the window, regardless of their due time (producer)"),
    Metric("deliveries", "records", "probe", "exact", "sum",
           "records delivered in the window, including redeliveries (consumer, transform)"),
    Metric("answers", "count", "probe", "exact", "sum",
           "calls answered in the window, regardless of their start (call)"),
    Metric("throughput", "records/s", "probe", "min", "min",
           "acknowledgements (producer) or deliveries (consumer, transform) in the window, per second"),
    Metric("acknowledged_records", "records", "probe", "exact", "sum",
           "records due in the window that the cluster acknowledged (producer)"),
    Metric("failed_records", "records", "probe", "exact", "sum",
           "records due in the window that were definitely not written (producer)"),
    Metric("uncertain_records", "records", "probe", "exact", "sum",
           "records due in the window that may or may not have been written, as after a time-out (producer)"),
    Metric("client_errors", "count", "probe", "exact", "sum",
           "errors of a probe's clients, in calls and outside of calls"),
    Metric("unexpected_errors", "count", "probe", "exact", "sum",
           "errors of a probe's clients that `errors` does not name"),
    Metric("missing_errors", "count", "probe", "exact", "sum",
           "names of errors that `errors` requires and that no client of a probe met"),
    Metric("lost_records", "records", "topic", "exact", "sum",
           "acknowledged records that are gone"),
    Metric("lost_share", "ratio", "topic", "max", "max",
           "acknowledged records that are gone, as a share of all acknowledged ones"),
    Metric("lost_span", "s", "topic", "max", "max",
           "time from the first to the last send of acknowledged records that are gone"),
    Metric("duplicate_records", "records", "topic", "exact", "sum",
           "records that are in the log more than once"),
    Metric("duplicate_share", "ratio", "topic", "max", "max",
           "records that are in the log more than once, as a share of all acknowledged ones"),
    Metric("reordered_records", "records", "topic", "exact", "sum",
           "records that are in the log before one that was sent earlier by the same process"),
    Metric("redelivered_records", "records", "group", "exact", "sum",
           "records that were delivered to a group more than once"),
    Metric("redelivered_share", "ratio", "group", "max", "max",
           "records that were delivered to a group more than once, as a share of its deliveries"),
    Metric("uncommitted_records", "records", "group", "exact", "sum",
           "records that were delivered to a group and not committed when the window ended"),
    Metric("unseen_records", "records", "group", "exact", "sum",
           "acknowledged records that were never delivered to a group"),
    Metric("skipped_records", "records", "group", "exact", "sum",
           "records that a group committed past without a delivery"),
    Metric("swallowed_records", "records", "group", "exact", "sum",
           "records that a group failed to process and committed past"),
    Metric("rate", "records/s", "probe", "min", "min",
           "records due in the window and acknowledged (producer), or delivered in it (consumer), per second"),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
"""By name."""

_SENDS = (
    "availability", "latency_p50", "latency_p99", "latency_max", "acknowledgements", "acknowledged_records",
    "failed_records", "uncertain_records",
)  # fmt: skip
_READS = ("end_to_end_p99", "end_to_end_max", "realtime_lag_p99", "realtime_lag_max")
_WATCHED = ("client_errors", "unexpected_errors", "missing_errors")
_LIVES = ("start_time", "close_time")
_CONNECTIONS = tuple(name for name in METRICS if name.startswith("connections_"))
BY_KIND = {
    "produce": ("unavailability", "unavailable_total", "rate", "throughput", *_SENDS, *_LIVES, *_WATCHED),
    "consume": ("unavailability", "unavailable_total", "rate", "throughput", "deliveries", *_READS, *_LIVES, *_WATCHED),
    "transform": ("throughput", "deliveries", *_LIVES, *_WATCHED),
    "health_check": (*(name for name in METRICS if name.startswith("connect_")), *_WATCHED),
    "call": (
        "call_time_p50", "call_time_max", "call_unavailability", "calls_answered", "calls_failed", "answers",
        *_LIVES, *_WATCHED,
    ),
}  # fmt: skip
"""The metrics of each kind of probe; those of its connections only if they are watched (``CONNECTIONS``)."""
CONNECTIONS = frozenset(_CONNECTIONS)
OF_SUBSCRIBERS = frozenset(
    (
        "rebalance_time", "assignment_time", "join_time", "rebalances", "new_generations", "unnecessary_rebalances",
        "moved_partitions",
    )
)  # fmt: skip
"""Metrics of groups that assign partitions to their members; members with manual assignment have none."""
OF_COMMITTERS = frozenset(("skipped_records", "swallowed_records"))
"""Metrics of groups that commit: without commits no record can be passed over."""
OF_WRITTEN = frozenset(
    ("lost_records", "lost_share", "lost_span", "duplicate_records", "duplicate_share", "reordered_records")
)
"""Metrics of topics that a probe writes to."""
ALIKE = (
    ("latency_p99", "end_to_end_p99", "realtime_lag_p99", "connect_latency_p99", "call_time_max"),
    ("latency_max", "end_to_end_max", "realtime_lag_max", "connect_latency_max", "call_time_max"),
    ("latency_p50", "connect_latency_p50", "call_time_p50", "end_to_end_p99"),
    ("unavailability", "unavailable_total", "connect_unavailability", "call_unavailability", "start_time"),
    ("availability", "connect_availability", "unavailability", "call_unavailability"),
    ("acknowledgements", "acknowledged_records", "deliveries", "answers", "calls_answered", "connect_availability"),
    ("throughput", "rate", "calls_answered", "connect_availability"),
    ("failed_records", "uncertain_records", "calls_failed", "client_errors"),
)
"""Similar metrics of different kinds of probes: alternatives for a metric that one kind does not have."""
