"""A lab of virtual machines for tests: a state directory of its own, with the machine's jars and images in it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from on_lab import inside

from chaosk import lab
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.live_cluster import LiveCluster
from chaosk.core.errors import LabError
from chaosk.document import load_inventory
from chaosk.hosts.transport.ssh import Ssh
from chaosk.lab import jars, runner, state
from chaosk.run.executor import Executor
from chaosk.run.faults import Faults
from chaosk.run.journal import Journal
from chaosk.run.leases import Leases
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

_VICTIM = Path(__file__).parents[1] / "bench" / "_victim.py"


@contextmanager
def own_state(layout: LabLayout) -> Iterator[Path]:
    """The directory, in which a lab of that layout is looked for; skips the test where there can be none."""
    if lacking := [program for program in ("linux.uml", "debootstrap", "mkfs.ext4") if runner.locate(program) is None]:
        packages = ", ".join(runner.PACKAGES[program] for program in lacking)
        pytest.skip(f"virtual machines need {packages}; ./dev test installs them on amd64")
    cached = jars.ensure(layout.kafka, jars.dependencies(layout.kafka), print)
    at = Path(tempfile.mkdtemp(prefix="chaosk-vms-"))
    (at / "kafka").symlink_to(cached.parent)
    (at / "images").symlink_to(runner.directory(state.state_root() / "images"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAOSK_STATE", str(at))
        try:
            yield at
        finally:
            lab.down(layout.name, print, force=True)
    shutil.rmtree(at)


def put_up(layout: LabLayout) -> Inventory:
    """The lab is up, on a machine that has much other work after some tries; what chaosk reads of it."""
    for _ in range(3):
        try:
            loaded = load_inventory(lab.up(layout, print))
            break
        except LabError as error:
            problem = error
    else:
        raise problem
    assert isinstance(loaded, Inventory)
    return loaded


@contextmanager
def lab_of(layout: LabLayout) -> Iterator[Inventory]:
    """The lab is up, and this thread, with all that it starts, in its network."""
    with own_state(layout):
        found = put_up(layout)
        with inside(state.of(layout.name).namespace):
            yield found


def faults_on(inventory: Inventory, transport: Ssh, folder: Path, brokers: Brokers | None = None) -> Faults:
    """The engine's own driver of faults on the lab, from inside its network; ``brokers`` are the caller's to close."""
    live = LiveCluster(inventory, brokers or Brokers(inventory, client_settings(inventory)), _nobody)
    hands = Executor(inventory, transport, live, _nobody, _nobody)
    return Faults(hands, Journal(folder), Leases(transport, "vm-run", "tests", 60.0), _unread)


def _nobody(asked: object) -> Any:
    raise AssertionError(asked)


def _unread(life: object) -> None:
    """Nobody reads the rows of these faults."""


def kill_chaosk(place: Path, folder: Path, step: dict[str, object], lease: int) -> None:
    """Inject a step by chaosk's own engine in a process that is killed by SIGKILL once the effect is seen."""
    short = place.with_name(f"lease-{lease}.yaml")
    short.write_text(f"{place.read_text('utf-8')}\nlongest_lease: {lease}s\n", "utf-8")
    spec = {
        "inventory": str(short), "folder": str(folder), "run": f"killed-{lease}", "point": "verified",
        "entry": {"name": "fault", "for": "60s", **step},
    }  # fmt: skip
    killed(spec)


def killed(spec: Mapping[str, object]) -> None:
    """Let chaosk's own engine do what the benchmark of kills calls a spec, until SIGKILL ends it at its point."""
    line = json.dumps({**spec, "patience": 300})
    done = subprocess.run([sys.executable, str(_VICTIM)], input=line, capture_output=True, text=True, check=False)
    assert done.stdout.split()[1:] == ["-9"], done.stderr + Path(str(spec["folder"]), "victim").read_text("utf-8")
