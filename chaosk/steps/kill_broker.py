"""Kill brokers with SIGKILL."""

from __future__ import annotations

from typing import ClassVar

from chaosk.steps._server import Role
from chaosk.steps._service_steps import Kill


class KillBroker(Kill):
    """Kill a broker's process with SIGKILL: no goodbye, its connections are closed by the operating system.

    It takes once the process is gone and nothing listens in its place; a supervisor that starts it again is noticed.
    The undo starts it and waits until it serves.
    """

    role: ClassVar[Role] = "broker"
    example: ClassVar[str] = """\
at: 10s
kill_broker: {target: "leader(orders, 0)"}
for: 30s
"""
