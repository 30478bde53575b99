"""Limits of harm that a scenario must lift explicitly, each with a reason that the report prints."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from chaosk.core.model import Model

Reason = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]
"""The justification for this cluster, for readers of the report."""


class Allow(Model):
    """Limits of harm that a scenario lifts; by default no run exceeds any of them."""

    zookeeper_majority: Reason | None = None
    """Reason to take down so many ZooKeeper nodes at once that no majority is left."""
    controller_majority: Reason | None = None
    """Reason to take down so many controllers of a KRaft quorum at once that no majority is left."""
    all_brokers: Reason | None = None
    """Reason to take down all brokers at once."""
    foreign_under_min_isr: Reason | None = None
    """Reason to let a topic of others have fewer replicas in sync than its ``min.insync.replicas``."""

    foreign_loss: Reason | None = None
    """Reason to lose records of a topic of others for good, with its last replicas in sync."""

    def reasons(self) -> dict[str, str]:
        """Map each lifted limit to its reason."""
        return {name: reason for name in type(self).model_fields if (reason := getattr(self, name)) is not None}
