"""The watcher's parameters: JSON in a file, without secrets."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from chaosk.core.model import Model
from chaosk.spec.inventory import Inventory


class WatcherSpec(Model):
    """One watcher."""

    run_id: str | None = None
    """Id of the run; None if there is none."""
    inventory: Inventory
    topics: Annotated[tuple[str, ...], Field(strict=False)]
    """The topics to watch."""
    others: bool = False
    """True to sample all other topics too: these are in the state, but not recorded."""
    folder: str
    """Folder of its event streams; must not contain any."""
