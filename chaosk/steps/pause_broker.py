"""Freeze brokers with SIGSTOP."""

from __future__ import annotations

from typing import ClassVar

from chaosk.steps._server import Role
from chaosk.steps._service_steps import Freeze


class PauseBroker(Freeze):
    """Freeze a broker's process with SIGSTOP: its host and its connections live, but the broker does not answer.

    It takes once the process has the state T. The undo is SIGCONT.
    """

    role: ClassVar[Role] = "broker"
    example: ClassVar[str] = """\
at: 10s
pause_broker: {target: "leader(orders, 0)"}
for: 20s
"""
