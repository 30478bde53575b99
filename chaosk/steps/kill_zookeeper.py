"""Kill ZooKeeper nodes with SIGKILL."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.quorum import Needs
from chaosk.steps._server import Role
from chaosk.steps._service_steps import Kill


class KillZooKeeper(Kill):
    """Kill a ZooKeeper node's process with SIGKILL: no goodbye, its connections are closed by the operating system.

    It takes once the process is gone and nothing listens in its place. Its supervisor is kept from starting it again
    while the fault lasts; another that does is noticed. The undo starts it and waits until it serves. With `restart:
    supervised` it is left to its supervisor, and has to run again when the fault is over.
    """

    role: ClassVar[Role] = "zookeeper"
    needs: ClassVar[Needs | None] = Needs("zookeeper", "write kill_controller")
    example: ClassVar[str] = """\
at: 10s
kill_zookeeper: {target: "zookeeper leader"}
for: 30s
"""
