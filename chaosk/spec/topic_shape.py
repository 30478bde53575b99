"""What a topic is made of: all that it takes to make it again as it was."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from chaosk.core.model import Model


class TopicShape(Model):
    """A topic of the cluster's at a moment."""

    topic: str
    identity: str = ""
    """Its id: another topic of the same name has another one."""
    replicas: Annotated[tuple[Annotated[tuple[int, ...], Field(strict=False)], ...], Field(strict=False)] = ()
    """By partition the brokers that hold it, the preferred leader first; empty where no cluster was asked."""
    config: dict[str, str] = Field(default_factory=dict)
    """What was set on it itself."""
