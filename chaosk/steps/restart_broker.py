"""Restart brokers, one or all of them rolling."""

from __future__ import annotations

from typing import ClassVar

from chaosk.steps._server import Role
from chaosk.steps._service_steps import Restart


class RestartBroker(Restart):
    """Stop a broker cleanly and start it again; several of them rolling, one after the other.

    The next one is stopped only when the last one serves again, and ``pause`` is over. It takes once all serve.
    """

    role: ClassVar[Role] = "broker"
    example: ClassVar[str] = """\
at: 10s
restart_broker: {target: brokers, pause: 5s}
"""
