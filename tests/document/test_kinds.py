"""What kind of document a file is, told by its keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_documents import INVENTORY, SCENARIO, written

from chaosk.document import DocumentError
from chaosk.document.kinds import is_inventory


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (SCENARIO, False), (INVENTORY, True), ("lab: {}\n", True), ("hosts: {}\nname: x\n", True),
        ("name: x\ntimeline: []\n", False), ("name: x\n", False), ("", False), ("- a\n", False), ("a: [\n", False),
        (INVENTORY.replace("hosts:", "hosst:"), True), (SCENARIO.replace("timeline:", "timelin:"), False),
    ],
)  # fmt: skip
def test_most_keys_decide(tmp_path: Path, document: str, expected: bool) -> None:  # noqa: FBT001
    """Also of files with mistakes, so that these are those of the right kind; a scenario where nothing tells."""
    assert is_inventory(written(tmp_path, document)) is expected


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Is a problem, not a kind."""
    with pytest.raises(DocumentError, match="cannot be read"):
        is_inventory(tmp_path / "none")
