"""The ``linger.ms`` of a lab's clients. Pure.

A lab's brokers share their processors with everything that uses them. At librdkafka's default of 5 ms nearly every
record is sent in a separate request. A writer of 200 records/s and a reader that commits each poll took 0.45 of a
processor on a lab of three hosts, and 0.11 at 50 ms. On User Mode Linux a writer of 100 records/s alone took 1.28
processors, and its own process 0.27: librdkafka's idempotent producer spins while five or more records of a partition
are in flight and others have waited longer than ``linger.ms``. A record was acknowledged after 80 ms (median; one in
ten after 230). At 50 ms these figures are 0.42 and 0.10, and 40 ms (61). Measured by ``bench/linger.py``.
"""

from __future__ import annotations

from chaosk.spec.inventory import Inventory

MS = 50


def inventory(found: Inventory) -> Inventory:
    """Return ``found`` with that ``linger.ms``; a probe's own ``config`` overrides it."""
    return found.model_copy(update={"client": {**found.client, "linger.ms": MS}})
