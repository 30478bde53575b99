"""What a scenario may do to a cluster only if it says so, each with the reason that its report prints."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from chaosk.core.model import Model

Reason = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]
"""Why that is all right on this cluster, for whoever reads the report."""


class Allow(Model):
    """Limits of harm that a scenario lifts; without a word no run goes beyond any of them."""

    zookeeper_majority: Reason | None = None
    """Why so many ZooKeeper nodes may be away at the same time that no majority is left."""
    controller_majority: Reason | None = None
    """Why so many controllers of a KRaft quorum may be away at the same time that no majority is left."""
    all_brokers: Reason | None = None
    """Why every broker may be away at the same time."""
    foreign_under_min_isr: Reason | None = None
    """Why a topic that is not the scenario's may have fewer replicas in sync than its ``min.insync.replicas``."""

    foreign_loss: Reason | None = None
    """Why records of a topic that is not the scenario's may be gone for good, with the last replicas in sync."""

    def reasons(self) -> dict[str, str]:
        """By limit that is lifted, why."""
        return {name: reason for name in type(self).model_fields if (reason := getattr(self, name)) is not None}
