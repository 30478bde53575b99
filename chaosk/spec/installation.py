"""Installed Kafka versions on a server's host, and the path that selects one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from chaosk.core.model import Model
from chaosk.spec.fields import Path, Version


class Installation(Model):
    """A server that is started through a symbolic link, with the link's possible targets: for ``switch_version``."""

    link: Path
    """The symbolic link through which the unit or the script starts it, like ``/opt/kafka``."""
    versions: Annotated[dict[Version, Path], Field(min_length=1)]
    """The installation folder by version; a run may switch among these."""
