"""What has settings of its own: a topic, a broker, or clients that a quota is for."""

from __future__ import annotations

from typing import Literal

from chaosk.model import Model


class Entity(Model):
    """A topic, a broker, or the clients of a user, of a ``client.id``, or of both together."""

    kind: Literal["topic", "broker", "clients"]
    name: str = ""
    """The topic, or the broker's id."""
    user: str | None = None
    client: str | None = None

    def __str__(self) -> str:
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


def number(value: float) -> str:
    """A number as it is written in settings, the same whoever tells it: ``1024``, ``12.5``."""
    return f"{value:.15g}"


def spelled(value: object) -> str:
    """A value of a document as Kafka writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
