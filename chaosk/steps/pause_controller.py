"""Freeze KRaft controllers with SIGSTOP."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.quorum import RequiredMode
from chaosk.steps._server import Role
from chaosk.steps._service_steps import Freeze


class PauseController(Freeze):
    """Freeze a KRaft controller's process with SIGSTOP: its connections stay open, but it does not answer.

    It takes once the process has the state T. The undo is SIGCONT.

    If the process is a broker as well, the broker is frozen with it.
    """

    role: ClassVar[Role] = "controller"
    needs: ClassVar[RequiredMode | None] = RequiredMode("kraft", "the controller is a broker there: write pause_broker")
    example: ClassVar[str] = """\
at: 10s
pause_controller: {target: controller}
for: 20s
"""
