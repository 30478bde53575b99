"""Who ends a kernel: the script that does, with every place of the kernel's replaced by files of the test's own.

Nothing here can end the machine that the tests run on: neither the real trigger nor systemctl is in the text that runs.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosk.hosts.scripts import script

OWN = "7b217c97-fb7b-47cf-ad39-26722c14383d"
OTHER = "3d90effe-efbf-4589-a7da-c0eda68908a8"
FIRST = {"ipc": 4026531839, "uts": 4026531838, "user": 4026531837, "pid": 4026531836, "cgroup": 4026531835}
Ask = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A host as the kernel shows it: another boot than chaosk's machine, first namespaces, a trigger."""
    (tmp_path / "ns").mkdir()
    for kind, number in FIRST.items():
        (tmp_path / "ns" / kind).symlink_to(f"{kind}:[{number}]")
    (tmp_path / "boot_id").write_text(f"{OTHER}\n")
    (tmp_path / "panic").write_text("0\n")
    (tmp_path / "trigger").write_text("")
    (tmp_path / "leases/run.entry").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def ask(machine: Path) -> Ask:
    """Runs the script on that host."""
    text = script("boot")
    for real, made in (
        ("/proc/sys/kernel/random/boot_id", "boot_id"), ("/proc/sys/kernel/panic", "panic"), ("/proc/self/ns", "ns"),
        ("/sys/kernel/kexec_crash_loaded", "kdump"), ("/proc/sysrq-trigger", "trigger"),
        ("/var/lib/chaosk/leases", "leases"),
    ):  # fmt: skip
        assert real in text
        text = text.replace(real, str(machine / made))
    text = text.replace("own && systemctl reboot", f"own && echo reboot >{machine}/trigger")
    assert "/proc/s" not in text
    assert "&& systemctl" not in text

    def run(*words: str, lease: str = "run.entry") -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "CHAOSK_LEASE": f"/x/{lease}" if lease else ""}
        argv = ["sh", "-c", text, "chaosk", *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False, env=environment, timeout=20)

    return run


def pulled(machine: Path) -> str:
    """What was written to the trigger, once it would have been."""
    time.sleep(1.0)
    return (machine / "trigger").read_text()


@pytest.mark.parametrize(("how", "written"), [("reboot", "reboot\n"), ("reset", "b\n"), ("crash", "c\n")])
def test_a_machine_of_its_own_ends(ask: Ask, machine: Path, how: str, written: str) -> None:
    """A moment after the command has answered."""
    done = ask("end", OWN, "run.entry", how)
    assert (done.returncode, done.stderr, (machine / "trigger").read_text()) == (0, "", "")
    assert pulled(machine) == written


@pytest.mark.parametrize("how", ["reboot", "reset", "crash"])
def test_the_machine_that_chaosk_runs_on_does_not(ask: Ask, machine: Path, how: str) -> None:
    """The same boot id: a namespace host of the lab, a container beside chaosk, or the machine itself."""
    (machine / "boot_id").write_text(f"{OWN}\n")
    done = ask("end", OWN, "run.entry", how)
    assert done.returncode == 1
    assert "shares the kernel of the machine that chaosk runs on" in done.stderr
    assert pulled(machine) == ""


@pytest.mark.parametrize("kind", FIRST)
def test_a_container_of_another_machine_does_not(ask: Ask, machine: Path, kind: str) -> None:
    """One namespace that is not the kernel's first is enough."""
    (machine / "ns" / kind).unlink()
    (machine / "ns" / kind).symlink_to(f"{kind}:[4026532999]")
    for words in (("own", OWN), ("end", OWN, "run.entry", "crash")):
        done = ask(*words)
        assert done.returncode == 1
        assert f"its {kind} namespace is not the kernel's first" in done.stderr
    assert pulled(machine) == ""


@pytest.mark.parametrize("said", ["", "x", OWN[:-1], f"{OWN}0", OWN.upper()])
def test_without_the_id_of_chaosks_machine_nothing_ends(ask: Ask, machine: Path, said: str) -> None:
    """Missing, cut short, or something else: nobody knows whether it is the same machine."""
    assert ask("end", said, "run.entry", "crash").returncode == 1
    assert pulled(machine) == ""


@pytest.mark.parametrize("told", ["", "nonsense\n"])
def test_a_kernel_that_does_not_say_which_boot_it_is(ask: Ask, machine: Path, told: str) -> None:
    """As above, from the other side."""
    (machine / "boot_id").write_text(told)
    assert "does not tell its boot id" in ask("end", OWN, "run.entry", "crash").stderr
    assert pulled(machine) == ""


def test_it_looks_once_more_right_before_the_end(ask: Ask, machine: Path) -> None:
    """What was left behind for a moment later looks again by itself."""
    assert ask("end", OWN, "run.entry", "crash").returncode == 0
    (machine / "boot_id").write_text(f"{OWN}\n")
    assert pulled(machine) == ""


@pytest.mark.parametrize("lease", ["", "run.other"])
def test_only_under_its_lease(ask: Ask, machine: Path, lease: str) -> None:
    """Who comes late, or without one, ends nothing."""
    assert "not under the lease" in ask("end", OWN, "run.entry", "crash", lease=lease).stderr
    assert pulled(machine) == ""


def test_whether_it_comes_back(ask: Ask, machine: Path) -> None:
    """After a panic: by kernel.panic, or by a crash kernel; else it hangs."""
    assert "kernel.panic is 0" in ask("returns", OWN).stderr
    (machine / "kdump").write_text("1\n")
    assert ask("returns", OWN).returncode == 0
    (machine / "kdump").unlink()
    (machine / "panic").write_text("10\n")
    assert ask("returns", OWN).returncode == 0


def test_another_boot_than_when_the_lease_was_armed(ask: Ask, machine: Path) -> None:
    """As the lease's own folder tells; without one nobody knows."""
    note = machine / "leases/run.entry/boot"
    assert "there is no lease" in ask("changed", OWN, "run.entry").stderr
    note.write_text(f"{OTHER}\n")
    assert "not booted since" in ask("changed", OWN, "run.entry").stderr
    note.write_text("aaaaaaaa-fb7b-47cf-ad39-26722c14383d\n")
    assert ask("changed", OWN, "run.entry").returncode == 0
