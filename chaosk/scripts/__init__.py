"""Shell scripts that run on hosts: constants, always given their values as arguments, never pasted together."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def script(name: str) -> str:
    """The text of ``name``.sh in this package, for ``sh -c``."""
    return files(__name__).joinpath(f"{name}.sh").read_text(encoding="utf-8")
