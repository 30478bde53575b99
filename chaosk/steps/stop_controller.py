"""Stop KRaft controllers the clean way."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.quorum import Needs
from chaosk.steps._server import Role
from chaosk.steps._service_steps import Stop


class StopController(Stop):
    """Stop a KRaft controller the clean way.

    It takes once the process is gone and nothing listens in its place; a supervisor that starts it again is noticed.
    The undo starts it and waits until it serves.
    Where it is a broker as well, that goes with it.
    """

    role: ClassVar[Role] = "controller"
    needs: ClassVar[Needs | None] = Needs("kraft", "the controller is a broker there: write stop_broker")
    example: ClassVar[str] = """\
at: 10s
stop_controller: {target: controller}
for: 30s
"""
