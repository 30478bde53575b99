"""What a tail audit is told, and what came of it: JSON, without secrets."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from chaosk.core.model import Model
from chaosk.spec.inventory import Inventory

Names = Annotated[tuple[str, ...], Field(strict=False)]


class AuditSpec(Model):
    """One audit."""

    inventory: Inventory
    run_id: str
    """Records of other runs are not intact to this one."""
    topics: Names
    """The topics to read."""
    groups: Names = ()
    """The consumer groups whose committed offsets are read."""
    folder: str
    """The folder of its event streams; must not hold any."""
    patience: float = 60.0
    """Seconds without a record after which reading ends; what was not read by then is incomplete."""


class AuditResult(Model):
    """What an audit covered."""

    records: int
    """Records read, both isolation levels together."""
    complete: bool
    """Whether every partition was read to its end at both levels, and every group answered."""
    incomplete: Names
    """What was not, and why: a line each."""
    seconds: float
    """How long it took."""
