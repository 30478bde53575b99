"""Restart KRaft controllers, one or all of them rolling."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.quorum import RequiredMode
from chaosk.steps._server import Role
from chaosk.steps._service_steps import Restart


class RestartController(Restart):
    """Stop a KRaft controller cleanly and start it again; several of them rolling, one after the other.

    The next one is stopped only when the last one serves again, and ``pause`` is over. It takes once all serve.

    If the process is a broker as well, the broker is restarted with it.
    """

    role: ClassVar[Role] = "controller"
    needs: ClassVar[RequiredMode | None] = RequiredMode(
        "kraft", "the controller is a broker there: write restart_broker"
    )
    example: ClassVar[str] = """\
at: 10s
restart_controller: {target: controllers, pause: 5s}
"""
