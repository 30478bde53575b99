"""Stop brokers cleanly."""

from __future__ import annotations

from typing import ClassVar

from chaosk.steps._server import Role
from chaosk.steps._service_steps import Stop


class StopBroker(Stop):
    """Stop a broker cleanly: it moves its leaderships away first, then its process ends.

    It takes once the process is gone and no other process listens in its place; a restart by a supervisor is noticed.
    The undo starts it and waits until it serves.
    """

    role: ClassVar[Role] = "broker"
    example: ClassVar[str] = """\
at: 10s
stop_broker: {target: "leader(orders, 0)"}
for: 30s
"""
