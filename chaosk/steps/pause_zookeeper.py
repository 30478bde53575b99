"""Freeze ZooKeeper nodes with SIGSTOP."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.quorum import RequiredMode
from chaosk.steps._server import Role
from chaosk.steps._service_steps import Freeze


class PauseZooKeeper(Freeze):
    """Freeze a ZooKeeper node's process with SIGSTOP: its connections stay open, but it does not answer.

    It takes once the process has the state T. The undo is SIGCONT.
    """

    role: ClassVar[Role] = "zookeeper"
    needs: ClassVar[RequiredMode | None] = RequiredMode("zookeeper", "write pause_controller")
    example: ClassVar[str] = """\
at: 10s
pause_zookeeper: {target: "zookeeper leader"}
for: 20s
"""
