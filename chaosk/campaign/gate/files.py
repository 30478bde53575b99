"""The files of a gate's report, each replaced as a whole."""

from __future__ import annotations

from pathlib import Path

from chaosk.campaign.gate.content import content
from chaosk.campaign.gate.html import html
from chaosk.campaign.gate.junit import junit
from chaosk.campaign.gate.markdown import markdown
from chaosk.campaign.gate.record import Gate
from chaosk.core.files import replace


def write(folder: Path, gate: Gate) -> Path:
    """Write ``gate.html``, ``gate.md`` and ``junit.xml``; return the first one's path. Raises UsageError on failure."""
    told = content(gate)
    replace(folder / "gate.md", markdown(told))
    replace(folder / "junit.xml", junit(gate))
    replace(folder / "gate.html", html(told))
    return folder / "gate.html"
