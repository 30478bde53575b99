"""Start brokers that are down."""

from __future__ import annotations

from typing import ClassVar

from chaosk.steps._server import Role
from chaosk.steps._service_steps import Start


class StartBroker(Start):
    """Start a broker after a stop or a kill, and wait until it serves: that fault is then over."""

    role: ClassVar[Role] = "broker"
    example: ClassVar[str] = """\
at: 40s
start_broker: {target: broker 1}
"""
    ends: ClassVar[tuple[str, ...]] = ("stop_broker", "kill_broker")
