"""Removing what chaosk keeps on this machine: all of its own, nothing of a link's, and no lease."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from chaosk.cli.main import cli
from chaosk.core.errors import LabError
from chaosk.lab import privilege, state
from chaosk.lab.purge import places, purge


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory with archives, a link to images elsewhere and leases; a cache; nothing of this machine's."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(privilege, "is_root", lambda: True)
    for folder in (
        "state/kafka/3.9.2",
        "state/clusters/prod/leases/r.kill",
        "cache/chaosk/spark-1",
        "cache/other",
        "images",
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "file").write_bytes(b"x" * 1_000_000)
    (tmp_path / "state/images").symlink_to(tmp_path / "images")
    return tmp_path


def test_all_of_its_own_goes_and_leases_stay(root: Path) -> None:
    """What a link leads to is somebody's; a lease may be all that can undo a fault; both are where they were."""
    said: list[str] = []
    purge(lambda line: said.append(str(line)))
    assert list(places()) == []
    assert sorted(str(each.relative_to(root)) for each in root.rglob("file")) == [
        "cache/other/file", "images/file", "state/clusters/prod/leases/r.kill/file",
    ]  # fmt: skip
    assert f"removed {root}/state/kafka: 1 MB" in said
    assert f"{root}/state stays, with clusters: leases of clusters, which `chaosk heal` may need" in said


def test_nothing_is_left_where_there_were_no_leases(root: Path) -> None:
    """Not even an empty state directory."""
    for path in sorted((root / "state/clusters").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (root / "state/clusters").rmdir()
    purge(lambda _: None)
    assert not state.state_root().exists()


def test_what_a_lab_needs_that_is_coming_up_stays(root: Path) -> None:
    """It holds its lock for minutes, while Kafka's jars are fetched, before it has any state."""
    (root / "state/labs").mkdir()
    with (
        state.locked(root / "state/labs/.busy.lock", lambda: None),
        pytest.raises(LabError, match="the lab busy is being changed"),
    ):
        purge(lambda _: None)
    assert (root / "state/kafka/3.9.2/file").exists()
    (root / "state/labs/.stale.lock").touch()
    purge(lambda _: None)
    assert not (root / "state/labs").exists()


@pytest.mark.parametrize(("answer", "gone"), [("n\n", False), ("y\n", True)])
def test_it_lists_and_asks_first(root: Path, answer: str, *, gone: bool) -> None:
    """Whoever says no has seen what it would have been."""
    done = CliRunner().invoke(cli, ["lab", "purge"], input=answer)
    assert f"{root}/state/kafka" in done.output
    assert (root / "state/kafka").exists() != gone
