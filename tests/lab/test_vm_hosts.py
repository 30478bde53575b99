"""What virtual machines need of this machine; on_lab_vms has what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.core.errors import LabError
from chaosk.lab import runner, vm_hosts, vm_registers
from chaosk.lab.state import LabState
from chaosk.lab.vm_hosts import VmHosts


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VmHosts:
    """The machines of a lab that is not there, on a machine where every program is and the device can be opened."""
    monkeypatch.setattr(runner, "locate", lambda program: Path("/usr/bin", program))
    device = tmp_path / "tun"
    device.touch()
    monkeypatch.setattr(vm_hosts, "_TUN", device)
    return VmHosts(LabState(tmp_path, "nothing-here"))


def test_a_machine_that_has_all(hosts: VmHosts) -> None:
    """Nothing is said, and nothing runs yet."""
    hosts.check()
    assert not hosts.alive()
    assert not hosts.runs("node1")


def test_missing_programs(hosts: VmHosts, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is missing is said at once, with the packages that bring it."""
    lacking = {"linux.uml", "debootstrap"}
    monkeypatch.setattr(runner, "locate", lambda program: None if program in lacking else Path("/sbin", program))
    with pytest.raises(LabError) as caught:
        hosts.check()
    assert str(caught.value) == (
        "linux.uml, debootstrap: not installed; for --hosts vms do: apt-get install user-mode-linux debootstrap"
    )


@pytest.mark.parametrize("too_large", [True, False])
def test_a_compiler_where_it_is_needed(hosts: VmHosts, monkeypatch: pytest.MonkeyPatch, *, too_large: bool) -> None:
    """Processors with registers that the kernel has no room for need one; elsewhere nobody is asked for it."""
    monkeypatch.setattr(vm_registers, "too_large", lambda: too_large)
    monkeypatch.setattr(runner, "locate", lambda program: None if program == "gcc" else Path("/sbin", program))
    if too_large:
        with pytest.raises(LabError, match=r"^gcc: not installed; for --hosts vms do: apt-get install gcc$"):
            hosts.check()
    else:
        hosts.check()


def test_no_device_for_cables(hosts: VmHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container there may be none; the message names the file and the module."""
    device = tmp_path / "tun"
    device.unlink()
    device.symlink_to(tmp_path / "nowhere" / "tun")
    with pytest.raises(LabError, match=r"tun: No such file or directory; virtual machines need it .* module tun"):
        hosts.check()


def test_what_a_console_says_last(hosts: VmHosts, tmp_path: Path) -> None:
    """A few lines, as text: without colours, movements of the cursor, and empty lines."""
    log = tmp_path / "labs/nothing-here/hosts/node1/log"
    log.parent.mkdir(parents=True)
    log.write_text(
        "first\n" * 20 + "[\x1b[0;32m  OK  \x1b[0m] Reached x.\r\n\n\x1bM\n\x1b[KKernel panic\n", encoding="utf-8"
    )
    words = hosts.last_words("node1").splitlines()
    assert words[-2:] == ["[  OK  ] Reached x.", "Kernel panic"]
    assert len(words) == 8


def test_a_machine_that_is_off(hosts: VmHosts) -> None:
    """A command for it says so, and what to do."""
    with pytest.raises(LabError, match="node1 is not running; do: chaosk lab up"):
        hosts.on_host("node1", ["true"])
