"""What has settings of its own: a topic, a broker, clients that a quota is for, what rights are about."""

from __future__ import annotations

from typing import Literal

from chaosk.core.model import Model

Resource = Literal["topic", "group", "transactional_id"]
"""What clients may have rights to."""


class Entity(Model):
    """A topic, a broker, or the clients of a user, of a ``client.id``, or of both together; rights; a certificate.

    The settings of ``acls`` are the ACLs of a resource, those of ``rights`` what the probes may do to it, those of a
    ``certificate`` what it says.
    """

    kind: Literal["topic", "broker", "clients", "acls", "rights", "certificate"]
    name: str = ""
    """The topic, the broker's id, or the resource that rights are about."""
    resource: Resource | None = None
    """Of rights, what kind of resource it is."""
    listener: str | None = None
    """Of a certificate, the listener of the broker ``name`` that shows it."""
    user: str | None = None
    client: str | None = None

    def __str__(self) -> str:
        if self.resource is not None:
            whose = "" if self.kind == "acls" else " that probes have"
            return f"{self.kind} of {self.resource} {self.name}{whose}"
        if self.listener is not None:
            return f"certificate of broker {self.name} at {self.listener}"
        if self.kind != "clients":
            return f"{self.kind} {self.name}"
        named = {"user": self.user, "client.id": self.client}
        return f"clients with {' and '.join(f'{key} {name}' for key, name in named.items() if name is not None)}"


class Settings(Model):
    """Settings that something has, or is to have."""

    of: Entity
    values: dict[str, str | None]
    """By name; None for one that is not set there, so that a default is in force."""

    def __str__(self) -> str:
        told = (f"{name}={value}" if value is not None else f"no {name}" for name, value in self.values.items())
        return f"{', '.join(told)} for {self.of}"


class Acl(Model):
    """A right that somebody has or must not have, from whichever host: one ACL without the resource."""

    permission: Literal["allow", "deny"]
    principal: str
    """Whose, like ``User:ann``."""
    operation: str
    """What may be done or not: ``read``, ``write``, ``describe``; ``all`` for everything."""

    def __str__(self) -> str:
        return f"{self.permission} {self.operation} {self.principal}"


def number(value: float) -> str:
    """A number as it is written in settings, the same whoever tells it: ``1024``, ``12.5``."""
    return f"{value:.15g}"


def spelled(value: object) -> str:
    """A value of a document as Kafka writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
