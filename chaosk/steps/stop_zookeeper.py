"""Stop ZooKeeper nodes cleanly."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.quorum import RequiredMode
from chaosk.steps._server import Role
from chaosk.steps._service_steps import Stop


class StopZooKeeper(Stop):
    """Stop a ZooKeeper node cleanly.

    It takes once the process is gone and no other process listens in its place; a restart by a supervisor is noticed.
    The undo starts it and waits until it serves.
    """

    role: ClassVar[Role] = "zookeeper"
    needs: ClassVar[RequiredMode | None] = RequiredMode("zookeeper", "write stop_controller")
    example: ClassVar[str] = """\
at: 10s
stop_zookeeper: {target: "zookeeper leader"}
for: 30s
"""
