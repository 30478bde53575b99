"""gate.json: what was recorded is read back, and what is none is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_gate import attempt, figure, gate

from chaosk.campaign.gate.record import NAME, load, save
from chaosk.core.errors import UsageError


def test_it_is_read_back(tmp_path: Path) -> None:
    """By the folder or by the file; nobody but its owner may read it."""
    told = gate(
        attempt(figures=(figure("recovery", 12.5), figure("unavailability", 3.0, censored=True))),
        attempt(repeat=2, exit_code=None),
    )
    save(tmp_path, told)
    assert load(tmp_path) == load(tmp_path / NAME) == told
    assert (tmp_path / NAME).stat().st_mode & 0o077 == 0
    assert [each.name for each in tmp_path.iterdir()] == [NAME]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is damaged, or was not written by"),
        ("{", "is damaged"),
        ('{"version": 1}', "is damaged"),
        ("[]", "is damaged"),
    ],
)
def test_what_is_no_gate(tmp_path: Path, text: str, says: str) -> None:
    """One clear error that names the file."""
    (tmp_path / NAME).write_text(text, "utf-8")
    with pytest.raises(UsageError, match=rf"gate\.json: {says}"):
        load(tmp_path)


def test_another_version(tmp_path: Path) -> None:
    """Says which one, and which is read."""
    save(tmp_path, gate(attempt()))
    document = json.loads((tmp_path / NAME).read_text("utf-8")) | {"version": 7, "more": 1}
    (tmp_path / NAME).write_text(json.dumps(document), "utf-8")
    with pytest.raises(UsageError, match="has version 7; this chaosk reads version 1; create it again"):
        load(tmp_path)


def test_none_at_all(tmp_path: Path) -> None:
    """A folder without one."""
    with pytest.raises(UsageError, match=r"gate\.json: cannot read it: No such file"):
        load(tmp_path)


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    """What was there stays, and no draft is left."""
    with pytest.raises(UsageError, match="cannot write it: No such file"):
        save(tmp_path / "nowhere", gate(attempt()))
    (tmp_path / NAME).mkdir()
    with pytest.raises(UsageError, match="cannot write it"):
        save(tmp_path, gate(attempt()))
    assert [each.name for each in tmp_path.iterdir()] == [NAME]
