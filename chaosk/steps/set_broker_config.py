"""Change the configuration of brokers while they run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.errors import StepError
from chaosk.hosts.commands import brokertool
from chaosk.spec.contracts.step import Site
from chaosk.spec.contracts.target import NodeKind
from chaosk.spec.dynamic_config import BrokerSetting
from chaosk.spec.entity import Entity, Settings
from chaosk.spec.inventory import Inventory
from chaosk.steps._settings import HostSettled


class SetBrokerConfig(HostSettled):
    """Change dynamic settings of single brokers; the undo restores the former ones.

    Settings that were not set are removed again. Kafka's own kafka-configs.sh does it, on the broker's host, which
    keeps the undo: a setting outlives both chaosk and the broker. It takes once each broker itself reports the new
    values. Only settings that cannot lose records or lock clients out can be changed. The settings of a broker that is
    down can be neither changed nor restored.
    """

    example: ClassVar[str] = """\
at: 10s
set_broker_config: {target: brokers, config: {num.io.threads: 4}}
for: 30s
"""

    target: str
    """The brokers."""
    config: Annotated[dict[BrokerSetting, Annotated[int, Field(ge=1, lt=2**63)]], Field(min_length=1)]
    """The new settings: whole numbers, in Kafka's unit for each."""

    def takes(self) -> frozenset[NodeKind]:
        """Accept brokers."""
        return frozenset({"broker"})

    def refused(self, inventory: Inventory, host: str) -> str | None:  # noqa: ARG002 - the same for all hosts
        """Refuse clusters that Kafka's tool could not log in to."""
        return brokertool.refused(inventory)

    def places(self, site: Site) -> Iterator[tuple[str, Settings]]:
        """Yield each broker's settings with its own host; raises StepError for other nodes."""
        values: dict[str, str | None] = {name: str(value) for name, value in self.config.items()}
        for node in site.nodes(self.target):
            if node.kind != "broker":
                raise StepError(f"{site.entry}: {node} is no broker, and has no such settings; name brokers")
            yield site.broker(node).host, Settings(of=Entity(kind="broker", name=node.id), values=values)
