"""Start KRaft controllers that are down."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.quorum import RequiredMode
from chaosk.steps._server import Role
from chaosk.steps._service_steps import Start


class StartController(Start):
    """Start a KRaft controller after a stop or a kill, and wait until it serves: that fault is then over."""

    role: ClassVar[Role] = "controller"
    needs: ClassVar[RequiredMode | None] = RequiredMode("kraft", "the controller is a broker there: write start_broker")
    example: ClassVar[str] = """\
at: 40s
start_controller: {target: controller 101}
"""
    ends: ClassVar[tuple[str, ...]] = ("stop_controller", "kill_controller")
