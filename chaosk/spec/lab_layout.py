"""A lab as a person asks for it: the ``lab:`` block in place of an inventory of hosts. Typed values, nothing more."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from chaosk.core.model import Model
from chaosk.spec.fields import Id, Name

Role = Annotated[str, StringConstraints(pattern=r"^(broker|controller|zookeeper) (0|[1-9][0-9]{0,8})$")]
"""What runs on a lab's host, like ``broker 0``."""


class LabLayout(Model):
    """A lab that chaosk puts up on this machine in place of a cluster of your own."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,11}$")] = "lab"
    """Labs of different names run side by side."""
    brokers: Annotated[int, Field(ge=1, le=9)] = 3
    zookeepers: Annotated[int, Field(ge=1, le=9)] = 3
    """With ZooKeeper only."""
    controllers: Annotated[int, Field(ge=0, le=9)] = 0
    """In KRaft, how many controllers have a process of their own; with none, the first brokers are it as well."""
    kafka: str = "3.9.2"
    """The Kafka version, from Maven Central."""
    also: Annotated[tuple[str, ...], Field(strict=False, max_length=3)] = ()
    """Other versions of Kafka that are installed on every host, for ``switch_version``; only on ``hosts``."""
    mode: Literal["zookeeper", "kraft"] | None = None
    """Who keeps the metadata; default: ZooKeeper for 3.x, KRaft for 4.x, which knows nothing else."""
    hosts: Literal["hosts", "vms"] = "hosts"
    """What its hosts are made of: ``hosts`` are Linux namespaces, ``vms`` virtual machines with a kernel each."""
    layout: dict[Name, Annotated[tuple[Role, ...], Field(strict=False)]] | None = None
    """By host the roles on it, like ``node1: [broker 0, zookeeper 1]``; default: one of each a host, co-located."""
    broker_config: dict[str, str] = Field(default_factory=dict)
    """Added to the configuration of every broker and every controller."""
    broker_overrides: dict[Id, dict[str, str]] = Field(default_factory=dict)
    """By broker id what is added to the configuration of that one alone; it wins."""
    data_dirs: Annotated[int, Field(ge=1, le=4)] = 1
    """How many data directories a broker has; of several, each is a file system of its own on hosts of namespaces."""
    secure: bool = False
    """Whether clients come in by TLS and with a password (SASL_SSL, SCRAM-SHA-512), and brokers have an authorizer;
    brokers among themselves do without."""
    supervised: bool = False
    """Whether a server that crashes is started again five seconds later, by a loop; on ``vms`` systemd always does."""
    names: bool = False
    """Whether brokers are told to clients by name, ``HOST.LAB.test``, instead of by address."""
    racks: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """``broker.rack`` of the brokers, in turn; without any they have none."""

    def roles(self) -> tuple[str, ...]:
        """Every role that ``layout`` writes down; none without it."""
        return tuple(role for roles in (self.layout or {}).values() for role in roles)
