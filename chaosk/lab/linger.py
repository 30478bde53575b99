"""How long clients of a lab wait for more records before they send some. Pure.

A lab's brokers share their processors with all that uses them, and at librdkafka's 5 ms nearly every record comes in a
request of its own: a writer of 200 records/s and a reader that commits what each poll brings had a lab of three hosts
take 0.45 of a processor; with 50 ms it is 0.11. On User Mode Linux a writer of 100 alone cost 1.28, and 0.27 itself:
librdkafka's idempotent producer spins while five or more records of a partition are on their way and others have waited
for longer than ``linger.ms``; a record was acknowledged after 80 ms (median; one in ten after 230). With 50 ms it is
0.42 and 0.10, and 40 ms (61). Measured by ``bench/linger.py``.
"""

from __future__ import annotations

from chaosk.spec.inventory import Inventory

MS = 50


def inventory(found: Inventory) -> Inventory:
    """``found``, whose clients send that seldom; a probe's own ``config`` goes before it."""
    return found.model_copy(update={"client": {**found.client, "linger.ms": MS}})
