"""What the machine must have, and what is said when it has not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chaosk.core.errors import LabError
from chaosk.lab import preflight, runner


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check for root comes first; the others are the matter here."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with exactly the programs a lab needs, each in a directory of its own making."""
    for program in preflight._PROGRAMS:
        (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(runner, "PATH", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("as_root", "programs")
def test_a_complete_machine_passes() -> None:
    """With every program and a little memory there is nothing to say."""
    preflight.check(0)


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("program", preflight._PROGRAMS)
def test_each_lack_names_its_package(programs: Path, program: str) -> None:
    """One program less: one message, with the Debian package that brings it."""
    (programs / program).unlink()
    with pytest.raises(LabError, match=f"^{program}: not installed; do: apt-get install {runner.PACKAGES[program]}$"):
        preflight.check(1)


@pytest.mark.usefixtures("as_root")
def test_several_lacks_are_one_message(programs: Path) -> None:
    """All lacks at once, each package once."""
    for program in ("setpriv", "ssh", "unshare"):
        (programs / program).unlink()
    expected = "ssh, unshare, setpriv: not installed; do: apt-get install openssh-client util-linux"
    with pytest.raises(LabError, match=f"^{expected}$"):
        preflight.check(1)


@pytest.mark.usefixtures("as_root", "programs")
def test_too_little_memory() -> None:
    """More hosts than memory is said with numbers, before the kernel's OOM killer says it."""
    with pytest.raises(LabError, match=r"1000000 lab hosts need about 420000000 MB of memory; \d+ MB are free"):
        preflight.check(1_000_000)


def test_without_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not root is the first thing that is said."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match="only root can put up a lab"):
        preflight.check(1)


@pytest.mark.lab
def test_what_hosts_borrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are resolved: a link into another directory would lead nowhere on a host."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    found = preflight.machine({"3.9.2": tmp_path / "jars"}, tmp_path / "init.py")
    assert Path(found.java_home, "bin/java").exists()
    assert not Path(found.python).is_symlink()
    assert (found.hidden, found.installed) == (str(tmp_path), (("3.9.2", str(tmp_path / "jars")),))
    assert "/proc/sys" in found.read_only


def test_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No Java is one message with its package."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(runner, "PATH", "/nowhere")
    with pytest.raises(LabError, match="java is not installed; do: apt-get install openjdk-17-jre-headless"):
        preflight.machine({"3.9.2": tmp_path}, tmp_path)
