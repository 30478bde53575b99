"""Five questions about a run directory, asked of DuckDB: what the analysis is measured against.

``python bench/_questions.py RUN_DIR``: records lost, doubled and out of order, the longest stretch without an
acknowledgement of a partition, and percentiles of latency; one line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import duckdb

LOST = """
    SELECT count(*) FROM (SELECT probe AS producer, incarnation AS producer_incarnation, seq FROM sends
                          WHERE outcome = 'ok')
    ANTI JOIN (SELECT producer, producer_incarnation, seq FROM audit WHERE intact)
    USING (producer, producer_incarnation, seq)
"""
DOUBLED = """
    SELECT count(*) FROM (
        SELECT producer, producer_incarnation, seq FROM (
            SELECT producer, producer_incarnation, seq, topic, partition, "offset" FROM audit WHERE intact
            UNION ALL SELECT producer, producer_incarnation, seq, topic, partition, "offset" FROM reads WHERE intact)
        GROUP BY ALL HAVING min("offset") < max("offset") OR min(partition) < max(partition))
"""
TURNED = """
    SELECT count(*) FROM (
        SELECT place, lag(place) OVER (PARTITION BY producer, producer_incarnation, topic, partition ORDER BY seq)
            AS before
        FROM (SELECT producer, producer_incarnation, seq, topic, partition, min("offset") AS place FROM audit
              WHERE intact GROUP BY ALL))
    WHERE place <= before
"""
OUT = """
    SELECT max(gap) / 1e9 FROM (
        SELECT completed - lag(completed) OVER (PARTITION BY probe, incarnation, partition ORDER BY completed) AS gap
        FROM sends WHERE outcome = 'ok')
"""
LATENCY = """
    SELECT probe, quantile_cont(completed - scheduled, [0.5, 0.99, 0.999]) FROM sends WHERE outcome = 'ok'
    GROUP BY probe
"""


def answers(run: Path) -> dict[str, Any]:
    """By question its answer: counts of records, seconds, and by producer seconds of three percentiles."""
    with duckdb.connect(config={"threads": 2}) as database:
        for table in ("sends", "reads", "audit"):
            database.execute(
                f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{run / 'events' / table}.parquet')"  # noqa: S608
            )
        counts = {
            name: database.execute(query).fetchall()[0][0]
            for name, query in {"lost": LOST, "doubled": DOUBLED, "turned": TURNED, "out": OUT}.items()
        }
        latency = {probe: [at / 1e9 for at in found] for probe, found in database.execute(LATENCY).fetchall()}
    return {**counts, "latency": latency}


if __name__ == "__main__":
    print(json.dumps(answers(Path(sys.argv[1]))))
