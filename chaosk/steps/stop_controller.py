"""Stop KRaft controllers cleanly."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.quorum import RequiredMode
from chaosk.steps._server import Role
from chaosk.steps._service_steps import Stop


class StopController(Stop):
    """Stop a KRaft controller cleanly.

    It takes once the process is gone and no other process listens in its place; a restart by a supervisor is noticed.
    The undo starts it and waits until it serves.

    If the process is a broker as well, the broker stops with it.
    """

    role: ClassVar[Role] = "controller"
    needs: ClassVar[RequiredMode | None] = RequiredMode("kraft", "the controller is a broker there: write stop_broker")
    example: ClassVar[str] = """\
at: 10s
stop_controller: {target: controller}
for: 30s
"""
