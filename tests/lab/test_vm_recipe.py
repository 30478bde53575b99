"""What goes into the disk image of virtual machines, and what tells two images apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.lab import launchers, vm_recipe
from chaosk.lab.service import HostFile

TOOLS = launchers.tools("3.9.2")
JARS = (Path("/jars/a-1.jar"), Path("/jars/b-2.jar"))
SAME = vm_recipe.digest(TOOLS, JARS, "6.1.1")


def test_where_the_jars_lie_is_no_difference() -> None:
    """The same content from another folder is the same image."""
    assert vm_recipe.digest(TOOLS, tuple(Path("/elsewhere") / jar.name for jar in JARS), "6.1.1") == SAME


@pytest.mark.parametrize(
    ("tools", "jars", "kernel"),
    [
        ((*TOOLS, HostFile("/x", "")), JARS, "6.1.1"),
        ((HostFile(TOOLS[0].path, "other", 0o755), *TOOLS[1:]), JARS, "6.1.1"),
        (TOOLS, (Path("/jars/a-1.jar"), Path("/jars/b-3.jar")), "6.1.1"),
        (TOOLS, JARS, "6.1.2"),
    ],
    ids=["a file more", "another text", "another jar", "another kernel"],
)
def test_other_content_is_another_image(tools: tuple[HostFile, ...], jars: tuple[Path, ...], kernel: str) -> None:
    """A kernel without its modules, or a Kafka of another version, would be a machine that does not work."""
    assert vm_recipe.digest(tools, jars, kernel) != SAME


def test_other_packages_are_another_image(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new chaosk that needs one more package does not boot yesterday's image."""
    monkeypatch.setattr(vm_recipe, "PACKAGES", (*vm_recipe.PACKAGES, "ethtool"))
    assert vm_recipe.digest(TOOLS, JARS, "6.1.1") != SAME


def test_nothing_is_written_outside_the_folder() -> None:
    """Whatever a command makes or removes, it does below the image's root, or in it by chroot."""
    for argv in [*vm_recipe.finish(Path("/x/root"), Path("/modules"), JARS), *vm_recipe.classes(Path("/x/root"))]:
        assert "chroot" in argv or argv[-1].startswith("/x/root/"), argv
        assert "chroot" not in argv or "/x/root" in argv, argv
