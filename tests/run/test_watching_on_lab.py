"""What the watcher asks of a broker must not cost that broker anything, whatever state it is in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow.parquet as pq
import pytest
from run.test_run_on_lab import HEAD

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600), pytest.mark.long]

AWAY = """\
timeline:
  - name: away
    at: 1s
    cut_network: {between: [host node1, [host node2, host node3]]}
    for: 40s
"""


def test_a_broker_without_zookeeper_goes_on_answering(start: Callable[..., Any]) -> None:
    """Whoever asks it for a topic's settings then holds one of its eight request handlers until ZooKeeper is back.

    Asked for them every second it answered no client after eight seconds.
    """
    run = start(HEAD + AWAY)
    run.finish()
    rows = pq.read_table(run.rundir() / "events" / "brokers.parquet").to_pylist()
    mine = [row["error"] for row in rows if row["asked"] == 0]
    assert len(mine) > 200
    assert [error for error in mine if error] == []
