"""Set quotas for clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints, model_validator

from chaosk.core.errors import StepError
from chaosk.core.units import Size
from chaosk.hosts.commands import brokertool
from chaosk.spec.contracts.step import Site
from chaosk.spec.entity import Entity, Settings, number
from chaosk.steps._settings import HostSettled

Client = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]


class SetQuota(HostSettled):
    """Give clients a quota, as kafka-configs.sh does; the undo restores the former one, or removes it.

    Brokers then delay their responses to these clients, and read nothing from them meanwhile. The quota of a probe is
    that of its ``client.id``, which is its name. For other clients write their ``client`` or ``user``. A quota of a
    user has precedence over one of a ``client.id``. It applies to each broker separately, not to their sum.

    Kafka's own tool does it on the host of the broker with the lowest id, which keeps the undo: a quota outlives
    chaosk, and would slow down the next client of that name. It takes once the cluster reports the new limits.
    """

    example: ClassVar[str] = """\
at: 10s
set_quota: {probe: writer, producer_byte_rate: 10KiB}
for: 30s
"""

    probe: str | None = None
    """The probe with the limited clients."""
    client: Client | None = None
    """Or a ``client.id`` of other clients."""
    user: Client | None = None
    """The user of the clients; without ``probe`` or ``client`` all clients of that user."""
    producer_byte_rate: Annotated[Size, Field(ge=1)] | None = None
    """Bytes a second that the clients may write to each broker."""
    consumer_byte_rate: Annotated[Size, Field(ge=1)] | None = None
    """Bytes a second that the clients may read from each broker."""
    request_percentage: Annotated[float, Field(gt=0, le=10_000)] | None = None
    """Time of a broker's threads that the clients may use, in per cent of one thread."""

    def targets(self) -> tuple[str, ...]:
        """Return none: a quota is of users and clients."""
        return ()

    @model_validator(mode="after")
    def _somebody_and_something(self) -> SetQuota:
        if self.probe is not None and self.client is not None:
            msg = "probe and client both name a client.id; keep one of them"
            raise ValueError(msg)
        if self.probe is None and self.client is None and self.user is None:
            msg = "whose quota? write probe, or client or user for others"
            raise ValueError(msg)
        if not self._limits():
            msg = "no limit; write producer_byte_rate, consumer_byte_rate or request_percentage"
            raise ValueError(msg)
        return self

    def places(self, site: Site) -> Iterator[tuple[str, Settings]]:
        """Yield the quota and one host; raises StepError if Kafka's tool could not log in."""
        if (why := brokertool.refused(site.inventory)) is not None:
            raise StepError(f"{site.entry}: {why}")
        whose = Entity(kind="clients", user=self.user, client=self.probe or self.client)
        yield site.inventory.brokers[min(site.inventory.brokers)].host, Settings(of=whose, values=self._limits())

    def _limits(self) -> dict[str, str | None]:
        every = {
            "producer_byte_rate": self.producer_byte_rate,
            "consumer_byte_rate": self.consumer_byte_rate,
            "request_percentage": self.request_percentage,
        }
        return {name: number(value) for name, value in every.items() if value is not None}
