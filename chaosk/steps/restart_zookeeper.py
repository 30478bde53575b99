"""Restart ZooKeeper nodes, one or all of them rolling."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.quorum import RequiredMode
from chaosk.steps._server import Role
from chaosk.steps._service_steps import Restart


class RestartZooKeeper(Restart):
    """Stop a ZooKeeper node cleanly and start it again; several of them rolling, one after the other.

    The next one is stopped only when the last one serves again, and ``pause`` is over. It takes once all serve.
    """

    role: ClassVar[Role] = "zookeeper"
    needs: ClassVar[RequiredMode | None] = RequiredMode("zookeeper", "write restart_controller")
    example: ClassVar[str] = """\
at: 10s
restart_zookeeper: {target: zookeepers, pause: 5s}
"""
