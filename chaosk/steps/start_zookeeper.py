"""Start ZooKeeper nodes that are down."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.quorum import RequiredMode
from chaosk.steps._server import Role
from chaosk.steps._service_steps import Start


class StartZooKeeper(Start):
    """Start a ZooKeeper node after a stop or a kill, and wait until it serves: that fault is then over."""

    role: ClassVar[Role] = "zookeeper"
    needs: ClassVar[RequiredMode | None] = RequiredMode("zookeeper", "write start_controller")
    example: ClassVar[str] = """\
at: 40s
start_zookeeper: {target: zookeeper 1}
"""
    ends: ClassVar[tuple[str, ...]] = ("stop_zookeeper", "kill_zookeeper")
