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
    """Change dynamic settings of brokers, each by itself; the undo puts back what was set there before.

    What was not set is removed again. Kafka's own kafka-configs.sh does it, on the broker's host, which keeps the undo:
    a setting outlives both chaosk and the broker. It takes once each broker itself tells the new values. Only settings
    can be changed that lose nobody's records and keep nobody out. A broker that is down can be given no settings, nor
    be freed of any.
    """

    example: ClassVar[str] = """\
at: 10s
set_broker_config: {target: brokers, config: {num.io.threads: 4}}
for: 30s
"""

    target: str
    """Whose settings: brokers."""
    config: Annotated[dict[BrokerSetting, Annotated[int, Field(ge=1, lt=2**63)]], Field(min_length=1)]
    """What is set: whole numbers, in the unit that Kafka has for each."""

    def takes(self) -> frozenset[NodeKind]:
        """Brokers."""
        return frozenset({"broker"})

    def targets(self) -> tuple[str, ...]:
        """The one target."""
        return (self.target,)

    def refused(self, inventory: Inventory, host: str) -> str | None:  # noqa: ARG002 - the same for all hosts
        """Where Kafka's tool could not log in."""
        return brokertool.refused(inventory)

    def places(self, site: Site) -> Iterator[tuple[str, Settings]]:
        """Each broker on its own host; raises StepError for what is no broker."""
        values: dict[str, str | None] = {name: str(value) for name, value in self.config.items()}
        for node in site.nodes(self.target):
            if node.kind != "broker":
                raise StepError(f"{site.entry}: {node} is no broker, and has no such settings; name brokers")
            yield site.broker(node).host, Settings(of=Entity(kind="broker", name=node.id), values=values)
