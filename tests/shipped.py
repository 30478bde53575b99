"""The files that come with chaosk: scenarios, and spaces of sequences, which lie in a folder of their own."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "scenarios"
SPACES = sorted((_FOLDER / "explore").glob("*.yaml"))
SCENARIOS = sorted({*_FOLDER.rglob("*.yaml")} - {*SPACES})
