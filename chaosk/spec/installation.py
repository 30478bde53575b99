"""Which installations of Kafka a server's host has, and which path names the one in use."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from chaosk.core.model import Model
from chaosk.spec.fields import Path, Version


class Installation(Model):
    """A server that is started through a symbolic link, and what that link can name: for ``switch_version``."""

    link: Path
    """The symbolic link through which the unit or the script starts it, like ``/opt/kafka``."""
    versions: Annotated[dict[Version, Path], Field(min_length=1)]
    """By version the folder in which it is installed; those that a run may switch to."""
