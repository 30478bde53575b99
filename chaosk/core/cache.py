"""Location of the analysis' cache, whose content can be rebuilt at any time."""

from __future__ import annotations

import os
from pathlib import Path


def cache() -> Path:
    """Return this account's folder of class archives: ``$XDG_CACHE_HOME/chaosk``, or ``~/.cache/chaosk``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chaosk"
