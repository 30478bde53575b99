"""The script that puts loads on a host, in real shells: what it starts ends with its lease, whoever dies."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex

import pytest
from on_lab import until

from chaosk.hosts.scripts import script

Ask = Callable[..., subprocess.CompletedProcess[str]]
ID = token_hex(5)


@pytest.fixture(params=[shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def load(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Ask]:
    """The script by each shell, under a lease that lives as long as the file ``alive`` is there."""
    shell = ["busybox", "sh"] if request.param == "busybox" else [request.param]
    (tmp_path / "lease").write_text(f"[ -e {tmp_path}/alive ]\n")
    (tmp_path / "alive").touch()

    def ask(action: str, kind: str, *much: object, lease: bool = True) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], **({"CHAOSK_LEASE": str(tmp_path)} if lease else {})}
        argv = [*shell, "-c", script("load"), "chaosk", action, kind, ID, *map(str, much)]
        return subprocess.run(argv, capture_output=True, text=True, check=False, env=env, timeout=20)

    yield ask
    assert ask("lift", "cpu").returncode == 0


@pytest.mark.parametrize(("kind", "much", "half"), [("cpu", 1, 2), ("memory", 20_000, 40_000)])
def test_a_load_is_there_and_goes(load: Ask, kind: str, much: int, half: int) -> None:
    """As much as was asked for and not twice as much; twice put is as once, twice lifted too."""
    assert load("fits", kind, much).returncode == 0
    assert load("put", kind, much).returncode == load("put", kind, much).returncode == 0
    until(lambda: load("stands", kind, much).returncode == 0, 10)
    assert load("stands", kind, half).returncode == 1
    assert "still there" in load("gone", kind).stderr
    assert load("lift", kind).returncode == load("lift", kind).returncode == load("gone", kind).returncode == 0


@pytest.mark.parametrize(("kind", "much"), [("cpu", 1), ("memory", 20_000)])
def test_it_ends_with_its_lease(tmp_path: Path, load: Ask, kind: str, much: int) -> None:
    """Nobody lifts it: the timer may be dead as well."""
    assert load("put", kind, much).returncode == 0
    until(lambda: load("stands", kind, much).returncode == 0, 10)
    (tmp_path / "alive").unlink()
    until(lambda: load("gone", kind).returncode == 0, 5)


def test_without_a_lease_nothing_is_started(load: Ask) -> None:
    """It would stay until somebody found it."""
    done = load("put", "cpu", 1, lease=False)
    assert done.returncode == 1
    assert "without a lease" in done.stderr
    assert load("gone", "cpu").returncode == 0


def test_a_loop_that_is_stopped_does_not_count(load: Ask) -> None:
    """It is there, but nobody feels it."""
    assert load("put", "cpu", 1).returncode == 0
    until(lambda: load("stands", "cpu", 1).returncode == 0, 10)
    (found,) = [one for one in load("gone", "cpu").stderr.split() if one.isdigit() and leads(int(one))]
    os.kill(int(found), 19)
    until(lambda: "0 of 1 busy loops run" in load("stands", "cpu", 1).stderr, 10)  # it stops when it has a processor


def leads(pid: int) -> bool:
    """Whether a process leads a session."""
    try:
        return os.getsid(pid) == pid
    except ProcessLookupError:
        return False


def test_more_than_a_host_can_bear_is_refused(load: Ask) -> None:
    """More loops than four a processor, memory that others would be killed for; a share is of what there is."""
    cores = os.cpu_count() or 1
    assert load("fits", "cpu", 4 * cores).returncode == 0
    assert "more than 4 for each" in load("fits", "cpu", 4 * cores + 1).stderr
    assert load("fits", "cpu", "1ppm").stdout.startswith("1 busy loops")
    assert load("fits", "cpu", "1000000ppm").stdout.startswith(f"{cores} busy loops")
    assert "would leave less than 131072" in load("fits", "memory", "1000000ppm").stderr
    assert load("fits", "memory", 1).returncode == 0
