"""A lab as a user requests it: the ``lab:`` block in place of an inventory of hosts. Typed values only."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from chaosk.core.model import Model
from chaosk.spec.fields import Id, Name

Role = Annotated[str, StringConstraints(pattern=r"^(broker|controller|zookeeper) (0|[1-9][0-9]{0,8})$")]
"""A process on a lab's host, like ``broker 0``."""


class LabLayout(Model):
    """A lab that chaosk starts on this machine in place of a cluster of your own."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,11}$")] = "lab"
    """Labs of different names run side by side."""
    brokers: Annotated[int, Field(ge=1, le=9)] = 3
    zookeepers: Annotated[int, Field(ge=1, le=9)] = 3
    """With ZooKeeper only."""
    controllers: Annotated[int, Field(ge=0, le=9)] = 0
    """With KRaft: the number of controllers in their own processes; with 0, the first brokers are controllers as
    well."""
    kafka: str = "3.9.2"
    """The Kafka version, from Maven Central."""
    also: Annotated[tuple[str, ...], Field(strict=False, max_length=3)] = ()
    """Other Kafka versions to install on every host, for ``switch_version``; only on ``hosts``."""
    mode: Literal["zookeeper", "kraft"] | None = None
    """The keeper of the metadata; default: ZooKeeper for 3.x, KRaft for 4.x, which has no other."""
    hosts: Literal["hosts", "vms"] = "hosts"
    """The kind of its hosts: ``hosts`` are Linux namespaces, ``vms`` virtual machines, each with its own kernel."""
    layout: dict[Name, Annotated[tuple[Role, ...], Field(strict=False)]] | None = None
    """The roles of each host, like ``node1: [broker 0, zookeeper 1]``; default: one of each role per host,
    co-located."""
    broker_config: dict[str, str] = Field(default_factory=dict)
    """Added to the configuration of every broker and every controller."""
    broker_overrides: dict[Id, dict[str, str]] = Field(default_factory=dict)
    """Added to the configuration of single brokers, by broker id; takes precedence."""
    data_dirs: Annotated[int, Field(ge=1, le=4)] = 1
    """Data directories of each broker; if there are several, hosts of namespaces use a separate file system for
    each."""
    secure: bool = False
    """True if clients connect by TLS with a password (SASL_SSL, SCRAM-SHA-512), and brokers have an authorizer;
    connections between brokers use neither."""
    supervised: bool = False
    """True if a loop restarts a crashed server after five seconds; on ``vms`` systemd always does."""
    names: bool = False
    """True if brokers advertise names, ``HOST.LAB.test``, instead of addresses."""
    racks: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """``broker.rack`` of the brokers, in turn; by default they have none."""

    def roles(self) -> tuple[str, ...]:
        """Return every role in ``layout``; empty without it."""
        return tuple(role for roles in (self.layout or {}).values() for role in roles)
