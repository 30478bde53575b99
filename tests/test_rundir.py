"""Run directories: made anew below one place, whatever a scenario is called, and never by way of a link."""

from __future__ import annotations

import os
import re
import socket
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from payloads import SHELL

from chaosk.core.errors import UsageError
from chaosk.rundir import paths
from chaosk.rundir.paths import FOLDERS, create, document, existing, slug

NOW = datetime(2026, 9, 21, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """Where run directories go, deep enough for a path that leads out to be seen."""
    return tmp_path / "a" / "b" / "reports"


@pytest.mark.parametrize(
    "name", [*SHELL[::7], "../../etc", "/etc/passwd", "..", ".", "", "a/b", "\u202e", "con", "x" * 300]
)
def test_whatever_a_scenario_is_called(tmp_path: Path, output: Path, name: str) -> None:
    """Its directory is two levels below the output, and nothing is made beside that."""
    made = create(output, name, NOW)
    assert made.root.parent.parent == output
    outside = {path for path in tmp_path.rglob("*") if output not in path.parents and path != output}
    assert outside == {tmp_path / "a", tmp_path / "a" / "b"}


@given(st.text(max_size=200))
def test_a_slug_is_one_plain_name(name: str) -> None:
    """Of letters, digits and hyphens: no path, no option, nothing that a shell reads."""
    found = slug(name)
    assert found
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not found.startswith("-")
    assert len(found) <= 64


def test_nobody_else_can_look_into_it(output: Path) -> None:
    """Modes 0700, whatever the umask: what is in a run is its owner's matter."""
    before = os.umask(0)
    try:
        made = create(output, "x", NOW)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (made.root, *(made.root / name for name in FOLDERS))} == {0o700}


def test_a_run_directory_is_never_used_again(output: Path) -> None:
    """Two runs in the same microsecond: the second is refused, and the first is as it was."""
    first = create(output, "x", NOW)
    (first.live / "evidence").write_text("mine")
    with pytest.raises(UsageError, match="cannot make the run directory"):
        create(output, "x", NOW)
    assert (first.live / "evidence").read_text() == "mine"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_below_the_output_is_refused(tmp_path: Path, output: Path, *, there: bool) -> None:
    """Whoever may write there does not choose where a run's evidence goes."""
    output.mkdir(parents=True)
    if there:
        (tmp_path / "elsewhere").mkdir()
    (output / "x").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is a symbolic link"):
        create(output, "x", NOW)
    assert not there or list((tmp_path / "elsewhere").iterdir()) == []


def test_the_output_itself_may_be_a_link(tmp_path: Path) -> None:
    """That one the user has named."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "reports").symlink_to(tmp_path / "disk")
    assert create(tmp_path / "reports", "x", NOW).root.resolve().parent.parent == tmp_path / "disk"


@pytest.mark.parametrize("name", FOLDERS)
def test_a_run_directory_that_leads_out_of_itself_is_refused(tmp_path: Path, output: Path, name: str) -> None:
    """From elsewhere, with a link in place of a folder: judging it would write where the link leads."""
    made = create(output, "x", NOW)
    made.plan.write_text("{}")
    assert existing(made.root) == made
    (made.root / name).rmdir()
    (made.root / name).symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is a symbolic link"):
        existing(made.root)


@pytest.mark.parametrize(
    "name",
    ["plan.json", "run.json", "verdict.json", "events/sends.parquet", "evidence/lost.jsonl", "cluster/before.json",
     "live/writer-0/sends.arrows", "notes"],
)  # fmt: skip
def test_what_is_neither_file_nor_folder_is_refused_by_its_path(output: Path, name: str) -> None:
    """A link leads out, a FIFO is waited for, a socket and a device are neither: one error that names it, no wait.

    The device is the one that the kernel lets anybody make (0, 0).
    """
    made = create(output, "x", NOW)
    made.plan.write_text("{}")
    path = made.root / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    for make, what in (
        (os.mkfifo, "a FIFO"),
        (lambda at: at.symlink_to(output), "a symbolic link"),
        (_bound, "a socket"),
        (lambda at: os.mknod(at, stat.S_IFCHR | 0o600, os.makedev(0, 0)), "a device"),
    ):
        make(path)
        with pytest.raises(UsageError, match=f"^{re.escape(str(path))}: is {what}"):
            existing(made.root)
        path.unlink()


def _bound(path: Path) -> None:
    """A socket there, by a name short enough for one."""
    with socket.socket(socket.AF_UNIX) as one:
        folder = os.open(path.parent, os.O_RDONLY)
        one.bind(f"/proc/self/fd/{folder}/{path.name}")
        os.close(folder)


def test_a_run_directory_by_a_link_is_one(tmp_path: Path, output: Path) -> None:
    """The user has named that link, whatever is refused inside."""
    made = create(output, "x", NOW)
    made.plan.write_text("{}")
    (tmp_path / "latest").symlink_to(made.root)
    assert existing(tmp_path / "latest").root == tmp_path / "latest"


def test_what_is_no_run_directory_is_said(tmp_path: Path) -> None:
    """By what it lacks."""
    with pytest.raises(UsageError, match=r"it has no plan\.json"):
        existing(tmp_path)


def test_a_document_is_a_plain_file_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No link, no folder, no pipe that nobody writes to, and nothing too large is read as one."""
    (tmp_path / "plain").write_bytes(b"{}")
    assert document(tmp_path / "plain") == b"{}"
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, says in (("link", "symbolic link"), ("folder", "directory"), ("pipe", "no plain file")):
        with pytest.raises(OSError, match=says):
            document(tmp_path / name)
    monkeypatch.setattr(paths, "LARGEST", 1)
    with pytest.raises(OSError, match="no plain file"):
        document(tmp_path / "plain")
