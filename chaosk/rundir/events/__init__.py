"""The event tables: the one schema that the run writes and the analysis reads.

Every time is in nanoseconds of the monotonic clock of chaosk's machine (``CLOCK_MONOTONIC``, shared by all its
processes), so durations are differences; the ``clocks`` table ties it to the wall clock, sampled once a second.
A record's value is named by (``producer``, ``incarnation``, ``seq``) and unique in a run; a row of ``sends`` is one
attempt. Table names are words; the letters in brackets are those of the definitions the checks cite.

An incarnation is one process of one probe: a probe that is killed and started again has two. ``incarnations`` has a
row when it starts and ``ends`` a row when it ended by itself: without that end marker its log is cut short.

::

    table        what a table is
    clients      sends, reads, polls, seeks, assignments, commits, ...
    cluster      partitions, offsets, brokers, zookeepers, quorum; the tail audit
    happenings   faults, phases, clocks, topics made again, decisions
    hosts        transactions in the brokers' own files, and whether replicas agree
    streams      heartbeats of the processes that write, and how many rows each of them wrote
"""

from __future__ import annotations

from chaosk.rundir.events import clients, cluster, happenings, hosts, streams
from chaosk.rundir.events.table import Column, Kind, Table

__all__ = ["TABLES", "Column", "Kind", "Table"]

TABLES: dict[str, Table] = {
    table.name: table
    for table in (*clients.TABLES, *cluster.TABLES, *happenings.TABLES, *hosts.TABLES, *streams.TABLES)
}
"""By name."""
