"""The shape of a topic: everything that is needed to create it again."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from chaosk.core.model import Model


class TopicShape(Model):
    """A topic of the cluster at a moment."""

    topic: str
    identity: str = ""
    """Its topic id, which differs from that of another topic with the same name."""
    replicas: Annotated[tuple[Annotated[tuple[int, ...], Field(strict=False)], ...], Field(strict=False)] = ()
    """The brokers of each partition, the preferred leader first; empty if no cluster was asked."""
    config: dict[str, str] = Field(default_factory=dict)
    """The settings on the topic itself."""
