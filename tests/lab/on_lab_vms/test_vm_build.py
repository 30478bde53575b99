"""A build of a disk image that is killed: nothing runs on, nothing half is taken for an image."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from on_lab import until

from chaosk.core.errors import LabError
from chaosk.lab import jars, launchers, runner, vm_image
from chaosk.spec.lab_layout import LabLayout

pytestmark = [pytest.mark.lab, pytest.mark.timeout(200), pytest.mark.long]

BUILD = """
import sys
from pathlib import Path
from chaosk.lab import launchers, vm_image
vm_image.ensure(Path(sys.argv[1]), launchers.tools("3.9.2"), print)
"""


def running(folder: Path) -> list[str]:
    """The command lines that name the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_text("utf-8", "replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        found += [line] if str(folder) in line else []
    return found


def test_killed_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What debootstrap has started ends with chaosk; the next build clears away what lies there before it begins."""
    if runner.locate("debootstrap") is None or runner.locate("linux.uml") is None:
        pytest.skip("virtual machines need user-mode-linux and debootstrap; ./dev test installs them on amd64")
    layout = LabLayout()
    cached = jars.ensure(layout.kafka, jars.dependencies(layout.kafka), print)
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    images = tmp_path / "images"
    with subprocess.Popen([sys.executable, "-c", BUILD, str(cached)], stdout=subprocess.DEVNULL) as build:
        until(lambda: any(images.glob(".kafka-*/root/debootstrap")), 60.0)
        assert running(images) != []
        os.kill(build.pid, signal.SIGKILL)
    until(lambda: running(images) == [], 10.0)
    assert any(images.glob(".kafka-*/root"))
    assert list(images.glob("*.ext4")) == []

    monkeypatch.setattr(vm_image, "ROOM", 2**62)
    with pytest.raises(LabError, match="free some space"):
        vm_image.ensure(cached, launchers.tools("3.9.2"), print)
    assert list(images.iterdir()) == []
