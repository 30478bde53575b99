"""Kill ZooKeeper nodes with SIGKILL."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.quorum import RequiredMode
from chaosk.steps._server import Role
from chaosk.steps._service_steps import Kill


class KillZooKeeper(Kill):
    """Kill a ZooKeeper node's process with SIGKILL: no clean shutdown; the operating system closes its connections.

    It takes once the process is gone and no other process listens in its place. Its supervisor is kept from restarting
    it while the fault lasts; a restart by anything else is noticed. The undo starts it and waits until it serves. With
    `restart: supervised` the supervisor may restart it, and it has to run again when the fault is over.
    """

    role: ClassVar[Role] = "zookeeper"
    needs: ClassVar[RequiredMode | None] = RequiredMode("zookeeper", "write kill_controller")
    example: ClassVar[str] = """\
at: 10s
kill_zookeeper: {target: "zookeeper leader"}
for: 30s
"""
