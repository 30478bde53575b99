"""The event tables: the one schema that the run writes and the analysis reads.

Every time is in nanoseconds of the monotonic clock of chaosk's machine (``CLOCK_MONOTONIC``, shared by all its
processes), so durations are differences. The ``clocks`` table maps it to the wall clock, sampled once a second.

A record's value is named by (``producer``, ``incarnation``, ``seq``) and unique in a run. A row of ``sends`` is one
attempt. The letters in brackets are those of the definitions that the checks cite.

An incarnation is one process of one probe: a probe that is killed and started again has two. ``incarnations`` has a row
for its start. ``ends`` has a row if it ended normally; without that end marker its log is incomplete.

::

    module       tables
    clients      sends, reads, polls, seeks, assignments, commits, ...
    cluster      partitions, offsets, brokers, zookeepers, quorum; the tail audit
    happenings   faults, phases, clocks, recreated topics, decisions
    hosts        transactions in the brokers' own files, and comparisons of replicas
    streams      heartbeats of the writing processes, and the number of rows of each
"""

from __future__ import annotations

from chaosk.rundir.events import clients, cluster, happenings, hosts, writer_reports
from chaosk.rundir.events.table import Column, Kind, Table

__all__ = ["TABLES", "Column", "Kind", "Table"]

TABLES: dict[str, Table] = {
    table.name: table
    for table in (*clients.TABLES, *cluster.TABLES, *happenings.TABLES, *hosts.TABLES, *writer_reports.TABLES)
}
"""By name."""
