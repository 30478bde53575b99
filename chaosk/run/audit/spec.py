"""The parameters of a tail audit, and its result: JSON, without secrets."""

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
    """Records of other runs count as not intact."""
    topics: Names
    """The topics to read."""
    groups: Names = ()
    """Consumer groups with committed offsets to read."""
    folder: str
    """Folder of its event streams; must not contain any."""
    patience: float = 60.0
    """Seconds without a record after which reading ends; the rest is incomplete."""


class AuditResult(Model):
    """The coverage of an audit."""

    records: int
    """Records read, both isolation levels together."""
    complete: bool
    """True if every partition was read to its end at both levels, and every group answered."""
    incomplete: Names
    """A line with the reason for each incomplete range or group."""
    seconds: float
    """Duration of the audit."""
