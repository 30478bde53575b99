"""What the keeper is told to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from chaosk.lab import keeper_plan
from chaosk.lab.host_plan import Argv, Machine
from chaosk.lab.seating import Seat
from chaosk.lab.state import LabState

BOTH = Seat("node1", "198.18.0.11", 0, 1)
MACHINE = Machine(
    python="/py", init="/init.py", java_home="/jdk", installed=(("3.9.2", "/jars"),), hidden="/state", read_only=()
)


def test_keeper_plan_has_every_host() -> None:
    """The keeper can start each host and mount its disk, of the size that makes a full disk real."""
    state = LabState(Path("/state"), "x")
    plan = keeper_plan.plan(state, (BOTH, Seat("node2", "198.18.0.12", 1, None)), MACHINE)
    assert set(cast("dict[str, object]", plan["start"])) == {"node1", "node2"}
    disk = cast("dict[str, list[Argv]]", plan["disk"])["node2"]
    assert ["mount", "-t", "tmpfs", "-o", "size=2g,mode=755", "tmpfs", "/state/labs/x/hosts/node2/disk"] in disk
    assert json.loads(json.dumps(plan)) == plan


def test_the_keeper_dies_with_its_parent() -> None:
    """``unshare`` waits for the keeper; killing either ends both."""
    argv = keeper_plan.start(LabState(Path("/state"), "x"), MACHINE)
    assert argv[:2] == ["nsenter", "--net=/run/netns/chaosk-x"]
    assert {"--pid", "--mount", "--fork", "--kill-child"} <= set(argv)
    assert argv[-2:] == ["keeper", "/state/labs/x/keeper.json"]


@pytest.mark.parametrize("propagation", ["slave", "unchanged"])
def test_mounts_stay_inside(propagation: str) -> None:
    """The lab takes part in the machine's unmounts, never the machine in the lab's mounts; in a chroot as is."""
    machine = Machine(
        python="/py",
        init="/i",
        java_home="/j",
        installed=(("3.9.2", "/k"),),
        hidden="/s",
        read_only=(),
        propagation=propagation,
    )
    argv = keeper_plan.start(LabState(Path("/state"), "x"), machine)
    assert argv[argv.index("--propagation") + 1] == propagation


def test_the_bridge_is_chaosks_own_end() -> None:
    """One switch with one address, the one the hosts know as chaosk."""
    assert ["ip", "address", "add", "198.18.0.1/24", "dev", "br0"] in keeper_plan.bridge()
    assert ["ip", "link", "set", "lo", "up"] in keeper_plan.bridge()


def test_every_path_of_a_plan_is_the_labs_own() -> None:
    """Two labs side by side never write to the same place."""
    plans = [
        json.dumps(keeper_plan.plan(LabState(Path("/state"), name), (BOTH,), MACHINE)) for name in ("left", "right")
    ]
    assert "/labs/right/" not in plans[0]
    assert plans[0].replace("/labs/left/", "/labs/right/") == plans[1]
