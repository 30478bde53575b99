"""How long clients of a lab wait for more records before they send some. Pure.

A lab's brokers share their processors with all that uses them. A writer of 200 records/s and a reader that commits
what each poll brings took 0.55 of one at librdkafka's 5 ms, 0.36 of it the brokers', for each record came alone; with
50 ms they take 0.19. On User Mode Linux it is worse: a record was acknowledged after 87 ms (median; one in ten after
267), and librdkafka's idempotent producer spins while five or more records of a partition are on their way and others
have waited for longer than ``linger.ms``, so it took up to a whole processor itself. With 50 ms it was 40 ms (60).
"""

from __future__ import annotations

from chaosk.inventory import Inventory

MS = 50


def inventory(found: Inventory) -> Inventory:
    """``found``, whose clients send that seldom; a probe's own ``config`` goes before it."""
    return found.model_copy(update={"client": {**found.client, "linger.ms": MS}})
