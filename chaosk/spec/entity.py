"""Entities with settings of their own: topics, brokers, clients under a quota, resources with rights."""

from __future__ import annotations

from typing import Literal

from chaosk.core.model import Model

Resource = Literal["topic", "group", "transactional_id"]
"""Kinds of resources to which clients can have rights."""


class Entity(Model):
    """A topic, a broker, the clients of a user, of a ``client.id``, or of both together, rights, or a certificate.

    The settings of ``acls`` are the ACLs of a resource, those of ``rights`` are the probes' rights to it, and those of
    a ``certificate`` are its contents.
    """

    kind: Literal["topic", "broker", "clients", "acls", "rights", "certificate"]
    name: str = ""
    """The topic, the broker's id, or the resource of the rights."""
    resource: Resource | None = None
    """The kind of resource, for rights."""
    listener: str | None = None
    """The listener of the broker ``name`` that presents the certificate."""
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
    """Actual or desired settings of an entity."""

    of: Entity
    values: dict[str, str | None]
    """By name; None for a setting that is not set there, so that a default is in force."""

    def __str__(self) -> str:
        told = (f"{name}={value}" if value is not None else f"no {name}" for name, value in self.values.items())
        return f"{', '.join(told)} for {self.of}"


class Acl(Model):
    """A granted or denied right, from any host: one ACL without its resource."""

    permission: Literal["allow", "deny"]
    principal: str
    """The principal, like ``User:ann``."""
    operation: str
    """The operation: ``read``, ``write``, ``describe``; ``all`` for all of them."""

    def __str__(self) -> str:
        return f"{self.permission} {self.operation} {self.principal}"


def number(value: float) -> str:
    """Spell a number as settings do, always the same: ``1024``, ``12.5``."""
    return f"{value:.15g}"


def spelled(value: object) -> str:
    """Spell a value of a document as Kafka does."""
    return str(value).lower() if isinstance(value, bool) else str(value)
