"""What chaosk writes of a run is its owner's alone, stays where it belongs, and replaces nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chaosk.core import files
from chaosk.core.errors import UsageError
from chaosk.core.files import replace


def mode(path: Path) -> int:
    """Its permissions."""
    return path.stat().st_mode & 0o777


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A file that is not the run's."""
    path = tmp_path / "theirs"
    path.write_text("precious")
    return path


def test_a_fresh_file_is_its_owners_alone(tmp_path: Path) -> None:
    """Whatever the umask allows."""
    before = os.umask(0)
    try:
        files.fresh_text(tmp_path / "new", "text")
    finally:
        os.umask(before)
    assert (mode(tmp_path / "new"), (tmp_path / "new").read_text()) == (0o600, "text")


@pytest.mark.parametrize("dangling", [False, True])
def test_a_fresh_file_does_not_go_where_a_link_leads(tmp_path: Path, theirs: Path, *, dangling: bool) -> None:
    """The link is removed, and what it led to stays as it is, or is not made."""
    target = tmp_path / "nowhere" if dangling else theirs
    (tmp_path / "draft").symlink_to(target)
    files.fresh_text(tmp_path / "draft", "mine")
    assert not (tmp_path / "draft").is_symlink()
    assert theirs.read_text() == "precious"
    assert not (tmp_path / "nowhere").exists()


def test_a_fresh_file_is_no_second_name_of_another(tmp_path: Path, theirs: Path) -> None:
    """A hard link is as good as a symbolic one to who wants a file overwritten."""
    (tmp_path / "draft").hardlink_to(theirs)
    files.fresh_text(tmp_path / "draft", "mine")
    assert theirs.read_text() == "precious"


def test_a_report_goes_where_it_belongs(tmp_path: Path, theirs: Path) -> None:
    """`chaosk report` on a run directory from elsewhere, with links in place of the report and of its draft."""
    report = tmp_path / "report.html"
    report.symlink_to(theirs)
    (tmp_path / f".report.html.{os.getpid()}").symlink_to(theirs)
    replace(report, "mine")
    assert (report.read_text(), report.is_symlink(), mode(report)) == ("mine", False, 0o600)
    assert theirs.read_text() == "precious"


def test_a_folder_is_its_owners_alone_and_can_be_there_already(tmp_path: Path) -> None:
    """Mode 0700; one that is there is taken as it is, unless it has to be new."""
    made = files.folder(tmp_path, "a", new=False)
    assert mode(made) == 0o700
    assert files.folder(tmp_path, "a", new=False) == made
    with pytest.raises(FileExistsError):
        files.folder(tmp_path, "a", new=True)


def test_a_folder_is_no_link(tmp_path: Path) -> None:
    """To a folder, or to nothing."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("link", "dangling"):
        with pytest.raises(UsageError, match="is a symbolic link"):
            files.folder(tmp_path, name, new=False)


def test_what_children_make_is_private_too(tmp_path: Path) -> None:
    """Probes, the watcher and the analysis are processes of their own."""
    code = (
        "import subprocess, sys; from chaosk.core.files import keep_private; keep_private();"
        "open(sys.argv[1], 'w').close(); subprocess.run(['mkdir', sys.argv[2]], check=True)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "file"), str(tmp_path / "folder")], check=True, umask=0)
    assert (mode(tmp_path / "file"), mode(tmp_path / "folder")) == (0o600, 0o700)
