"""Where runs are: found however deep, and nothing else is taken for one or followed."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_history import run_of

from chaosk.campaign.history import folders
from chaosk.campaign.history.folders import find
from chaosk.core.errors import UsageError


def test_runs_of_scenarios_and_of_gates(tmp_path: Path) -> None:
    """Two levels below the folder, and five; by path, and one that is named twice is there once."""
    one = run_of(tmp_path / "kill" / "2026-09-21").root
    two = run_of(tmp_path / "gate-2026" / "runs" / "kill-1" / "kill" / "2026-09-22").root
    (tmp_path / "README.md").write_text("about reports")
    found = find([tmp_path, one, tmp_path / "kill"])
    assert [run.root for run in found.runs] == [two, one]
    assert found.passed == []


def test_a_run_directory_itself(tmp_path: Path) -> None:
    """Named alone, it is what is asked for; folders in it are not searched."""
    run = run_of(tmp_path / "run")
    run_of(run.evidence / "copy")
    assert [each.root for each in find([run.root]).runs] == [run.root]


def test_what_is_no_run_is_named_once(tmp_path: Path) -> None:
    """A foreign tree as a whole, not each folder of it; hidden folders are nobody's business."""
    run_of(tmp_path / "kill" / "one")
    (tmp_path / "photos" / "2026" / "summer").mkdir(parents=True)
    (tmp_path / "kill" / "empty").mkdir()
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    passed = {each.folder.name: each.why for each in find([tmp_path]).passed}
    assert passed == {"photos": "there is no run in it", "empty": "there is no run in it"}


def test_links_are_named_and_not_followed(tmp_path: Path) -> None:
    """Neither to a run that is elsewhere, nor round in a circle."""
    run_of(tmp_path / "elsewhere" / "run")
    here = tmp_path / "reports"
    run_of(here / "kill" / "one")
    (here / "link").symlink_to(tmp_path / "elsewhere")
    (here / "kill" / "circle").symlink_to(here)
    (here / "kill" / "self").symlink_to(here / "kill" / "self")
    found = find([here])
    assert [run.root.name for run in found.runs] == ["one"]
    assert {each.folder.name for each in found.passed} == {"link", "circle"}
    assert {each.why for each in found.passed} == {"is a symbolic link, which is not followed"}


def test_a_run_that_leads_out_of_itself_is_passed_over(tmp_path: Path) -> None:
    """Its folder of events is somebody else's."""
    run = run_of(tmp_path / "reports" / "kill" / "one")
    run.events.symlink_to(tmp_path)
    found = find([tmp_path / "reports"])
    assert found.runs == []
    assert [each.why.partition(",")[0] for each in found.passed] == ["events: is a symbolic link"]


def test_a_folder_that_may_not_be_read_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the operating system's reason."""
    run_of(tmp_path / "kill" / "one")
    (tmp_path / "secret").mkdir()
    scandir = os.scandir

    def refusing(path: Path) -> Iterator[os.DirEntry[str]]:
        if path.name == "secret":
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    whys = {each.why for each in find([tmp_path]).passed}
    assert "cannot be read: Permission denied" in whys


def test_no_folder_and_no_run_are_mistakes(tmp_path: Path) -> None:
    """Each says what to name instead."""
    with pytest.raises(UsageError, match="is no folder; name one with runs in it"):
        find([tmp_path / "nowhere"])
    with pytest.raises(UsageError, match="there is no run in it"):
        find([tmp_path])


def test_depth_and_number_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that has no end ends the search all the same."""
    deep = tmp_path.joinpath(*"abcdefghi")
    run_of(deep)
    with pytest.raises(UsageError, match="there is no run in it"):
        find([tmp_path])
    assert len(find([tmp_path / "a"]).runs) == 1
    monkeypatch.setattr(folders, "MOST", 1)
    run_of(tmp_path / "x")
    with pytest.raises(UsageError, match="there are more than 1 runs"):
        find([tmp_path / "a", tmp_path / "x"])
