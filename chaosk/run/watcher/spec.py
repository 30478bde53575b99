"""What the watcher is told: JSON in a file, without secrets."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from chaosk.core.model import Model
from chaosk.spec.inventory import Inventory


class WatcherSpec(Model):
    """One watcher."""

    run_id: str | None = None
    """The run that it watches for; None where there is none."""
    inventory: Inventory
    topics: Annotated[tuple[str, ...], Field(strict=False)]
    """The topics to watch."""
    others: bool = False
    """Whether to look at every other topic too: only the state tells of them, nothing is written down."""
    folder: str
    """The folder of its event streams; must not hold any."""
