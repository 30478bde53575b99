"""What the keeper is told to do for virtual machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from chaosk.lab import vm_plan
from chaosk.lab.host_plan import Argv, Machine
from chaosk.lab.seating import Seat
from chaosk.lab.state import LabState

SEATS = (Seat("node1", "198.18.0.11", 0, 1), Seat("node2", "198.18.0.12", 1, None))
MACHINE = Machine(
    python="/py", init="/init.py", java_home="/jdk", installed=(("3.9.2", "/jars"),), hidden="/state", read_only=()
)


def plan(name: str) -> dict[str, object]:
    """The plan of a lab with two machines."""
    return vm_plan.plan(LabState(Path("/state"), name), SEATS, MACHINE)


def script(seat: Seat, preload: Path | None = None) -> str:
    """What becomes the kernel of a machine, at first and when it reboots."""
    return vm_plan.power_on(seat, Path("/state/labs/x/hosts", seat.host), Path("/state/images/i.ext4"), 1, preload)


def test_every_machine_has_its_own() -> None:
    """A tap on the bridge, a hardware address, a disk over the shared image, a seed and a control folder each."""
    start = cast("dict[str, Argv]", plan("x")["start"])
    commands = cast("list[Argv]", plan("x")["commands"])
    assert set(start) == {"node1", "node2"} == set(cast("dict[str, object]", plan("x")["disk"]))
    for seat in SEATS:
        at, words = f"/state/labs/x/hosts/{seat.host}", script(seat).split()
        assert start[seat.host][-1] == f"{at}/{vm_plan.POWER_ON}"
        assert {f"ubda={at}/disk.cow,/state/images/i.ext4", f"ubdb={at}/seed.tar", f"uml_dir={at}/control/"} <= {*words}
        assert f"vec0:transport=tap,ifname={seat.plug},mac={seat.mac},depth=128,gro=1" in words
        assert ["ip", "link", "set", seat.plug, "master", "br0", "up"] in commands
    assert json.loads(json.dumps(plan("x"))) == plan("x")


def test_a_machine_takes_its_processes_with_it() -> None:
    """What runs on it are processes here: they are in a PID namespace that ends with the kernel's own process."""
    words = cast("dict[str, Argv]", plan("x")["start"])["node1"]
    assert words.index("unshare") < words.index("/state/labs/x/hosts/node1/power-on")
    assert {"--pid", "--fork", "--kill-child"} <= {*words}


def test_a_machine_that_reboots_lets_go_of_what_it_had() -> None:
    """Its kernel executes the script anew, by the name that it was called: the tap and the old memory are let go."""
    lines = script(SEATS[0]).splitlines()
    assert lines[0] == "#!/bin/bash"
    assert any("exec $number>&-" in line for line in lines)
    assert lines[-1].startswith('exec -a "$0" linux.uml mem=')


def test_a_machine_stays_on_its_processor() -> None:
    """Said before the kernel takes the script's place, so at each boot, and what it starts later has it from it."""
    lines = script(SEATS[0]).splitlines()
    (pinned,) = [number for number, line in enumerate(lines) if line.startswith("taskset --cpu-list --pid 1 $$")]
    assert pinned == len(lines) - 2


def test_a_kernel_has_the_library_that_it_needs() -> None:
    """Only the kernel, and only where it is needed; nothing else of the script is another."""
    plain, helped = script(SEATS[0]).splitlines(), script(SEATS[0], Path("/state/labs/x/a b.so")).splitlines()
    assert helped == [*plain[:-1], f"LD_PRELOAD='/state/labs/x/a b.so' {plain[-1]}"]


def test_there_is_room_for_the_memory_of_all() -> None:
    """A page that the folder of the memory has no room for would kill a machine without a word."""
    commands = cast("list[Argv]", plan("x")["commands"])
    (options,) = [argv[argv.index("-o") + 1] for argv in commands if "/state/labs/x/memory" in argv and "-o" in argv]
    assert int(options.removeprefix("size=").partition("m")[0]) >= len(SEATS) * vm_plan.MEMORY


def test_every_path_of_a_plan_is_the_labs_own() -> None:
    """Two labs side by side share the image and write to different places."""
    left, right = (json.dumps(plan(name)) for name in ("left", "right"))
    assert "/labs/right/" not in left
    assert left.replace("/labs/left/", "/labs/right/") == right
