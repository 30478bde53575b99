"""The pictures of the documentation: drawn by a command, and the same each time."""

from __future__ import annotations

import runpy
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/pictures"


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    """What `./dev bench pictures` would write."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
        bench: dict[str, Any] = runpy.run_path(str(ROOT / "bench/pictures.py"))
        made: dict[str, str] = bench["pictures"]()
    return made


def test_the_committed_ones_are_current(drawn: dict[str, str]) -> None:
    """`./dev bench pictures` would change nothing, and nothing lies beside what it makes."""
    assert {path.name: path.read_text("utf-8") for path in FOLDER.iterdir()} == drawn


def test_they_fetch_nothing_and_say_what_they_show(drawn: dict[str, str]) -> None:
    """No address but the names of SVG's own vocabularies; the loss and the killed broker are in the text."""
    said = {}
    for name, text in drawn.items():
        root = ET.fromstring(text)  # noqa: S314 - what was drawn right above
        assert "url(http" not in text
        assert "@font-face" not in text
        said[name] = " ".join("".join(root.itertext()).replace("\xa0", " ").split())
    assert "6,863 acknowledged records are not in the log" in said["verdict.svg"]
    assert "broker 1 on node1" in said["timeline.svg"]
