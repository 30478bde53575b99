"""Tables of the writing processes of a run: their heartbeats, and the number of rows they wrote."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from chaosk.rundir.events import clients
from chaosk.rundir.events.table import table

HEARTBEATS = table(
    "heartbeats",
    "one row for each time that a process of a probe, or the watcher, was seen to go on, four a second",
    ("writer", "string", "name of the writer's folder, like writer-0 or watcher"),
    ("at", "time", "when"),
    ("late", "long", "how much later than it was due, nanoseconds"),
)
STREAM_ENDS = table(
    "stream_ends",
    "how many rows of each table a writer wrote: left when it closed its event log, one row a table, this one too",
    ("writer", "string", "name of the writer's folder, like writer-0, watcher, audit or run"),
    ("table", "string", "event table"),
    ("rows", "long", "how many rows of it this writer wrote"),
    ("run_id", "string", "the run that it wrote them for"),
    ("at", "time", "when"),
)

TABLES = (HEARTBEATS, STREAM_ENDS)

RUN, WATCHER, AUDIT, HOSTS, COPIES = "run", "watcher", "audit", "hosts", "copies"
"""Writers other than probes: names of their folders."""
WRITTEN_BY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        RUN: ("faults", "phases", "clocks", "host_clocks", "decisions", "remakings"),
        WATCHER: ("partitions", "offsets", "topic_settings", "brokers", "zookeepers", "quorum", "clocks", "heartbeats"),
        AUDIT: ("audit", "audit_ranges", "groups"),
        HOSTS: ("markers", "stretches", "dumps"),
        COPIES: ("copies",),
    }
)
"""The tables that each of these writers may have rows of."""
_PROBES = (*(one.name for one in clients.TABLES), "heartbeats")


def writer_of(probe: str, incarnation: int) -> str:
    """Return the writer's name of a probe's process: the name of its folder below ``live``."""
    return f"{probe}-{incarnation}"


def written_by(writer: str) -> tuple[str, ...]:
    """Return the tables that a writer may have rows of; a name not in ``WRITTEN_BY`` is a process of a probe."""
    return WRITTEN_BY.get(writer, _PROBES)
