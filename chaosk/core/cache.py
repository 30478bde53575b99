"""Where the analysis keeps what it can make anew."""

from __future__ import annotations

import os
from pathlib import Path


def cache() -> Path:
    """This account's folder of archives of classes: ``$XDG_CACHE_HOME/chaosk``, or ``~/.cache/chaosk``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chaosk"
