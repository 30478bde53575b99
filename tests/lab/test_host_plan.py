"""The commands that make a host, and those that start the keeper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from chaosk.lab import host_plan, keeper_plan
from chaosk.lab.host_plan import Argv, Machine
from chaosk.lab.seating import Seat

MACHINE = Machine(
    python="/py",
    init="/init.py",
    java_home="/jdk",
    installed=(("3.9.2", "/jars"),),
    hidden="/state",
    read_only=("/proc/sys", "/proc/irq"),
)
BOTH = Seat("node1", "198.18.0.11", 0, 1)
AT = Path("/state/labs/x/hosts/node1")


def commands(plan: dict[str, str | list[Argv]]) -> list[Argv]:
    """All commands of a plan in the order in which process 1 runs them."""
    return [
        argv
        for key in ("root", "populate", "mount", "inside", "first", "boot")
        for argv in cast("list[Argv]", plan[key])
    ]


def test_plan_is_json() -> None:
    """It travels to process 1 as a file."""
    plan = host_plan.plan(BOTH, AT, MACHINE)
    assert json.loads(json.dumps(plan)) == plan


def test_several_versions_are_folders_and_a_link() -> None:
    """Each with its own jars, the link to the first; what outlives a reboot is made once, what does not each time."""
    several = Machine(**{**_fields(MACHINE), "installed": (("3.9.2", "/two"), ("3.9.1", "/one"))})  # type: ignore[arg-type]
    plan, root = host_plan.plan(BOTH, AT, several), f"{AT}/disk/root"
    assert ["ln", "-s", "kafka-3.9.2", f"{root}/opt/kafka"] in plan["populate"]
    assert ["cp", "-a", f"{root}/opt/kafka-3.9.2", f"{root}/opt/kafka-3.9.1"] in plan["populate"]
    for jars, version in (("/two", "3.9.2"), ("/one", "3.9.1")):
        assert ["mount", "--bind", jars, f"{root}/opt/kafka-{version}/libs"] in plan["mount"]


def test_one_version_is_a_folder() -> None:
    """As it ever was: nothing is a link that need not be."""
    plan, root = host_plan.plan(BOTH, AT, MACHINE), f"{AT}/disk/root"
    assert ["mount", "--bind", "/jars", f"{root}/opt/kafka/libs"] in plan["mount"]
    assert not [argv for argv in plan["populate"] if argv[0] == "ln"]


def test_there_is_no_gateway() -> None:
    """No route is ever added: a packet for outside has nowhere to go."""
    assert not [argv for argv in commands(host_plan.plan(BOTH, AT, MACHINE)) if "route" in argv or "default" in argv]
    assert not [argv for argv in keeper_plan.bridge() if "route" in argv]


def test_nothing_of_the_host_runs_in_the_old_root() -> None:
    """Users, services and sshd come after the change of root; before it there are only mounts, files and cables."""
    plan = host_plan.plan(BOTH, AT, MACHINE)
    before = {argv[0] for key in ("root", "populate", "mount") for argv in cast("list[Argv]", plan[key])}
    assert before == {"mount", "rm", "cp", "mkdir", "touch", "ln", "ip", "nsenter"}
    assert plan["new_root"] == f"{AT}/disk/root"


def test_what_acts_on_the_whole_machine_is_read_only() -> None:
    """Sysctls and interrupts of the machine cannot be written from a host; its own network sysctls can."""
    enter = cast("list[Argv]", host_plan.plan(BOTH, AT, MACHINE)["inside"])
    for path in MACHINE.read_only:
        assert ["mount", "-o", "remount,bind,ro", path] in enter
    assert enter.index(["mount", "-o", "remount,bind,rw", "/proc/sys/net"]) > enter.index(
        ["mount", "-o", "remount,bind,ro", "/proc/sys"]
    )


@pytest.mark.parametrize("kind", ["net", "mount", "pid", "uts", "ipc", "cgroup"])
def test_a_host_has_namespaces_of_its_own(kind: str) -> None:
    """Every kind of namespace is new for a host."""
    assert f"--{kind}" in host_plan.unshare(MACHINE, Path("/plan"))


@pytest.mark.parametrize("capability", ["sys_time", "sys_module", "sys_rawio", "mknod"])
def test_a_host_cannot_act_on_the_machine(capability: str) -> None:
    """What namespaces do not divide is taken from root on a host, before its process 1 starts."""
    argv = host_plan.unshare(MACHINE, Path("/plan"))
    dropped = next(word for word in argv if word.startswith("--bounding-set="))
    assert f"-{capability}" in dropped.removeprefix("--bounding-set=").split(",")
    assert argv.index(dropped) < argv.index("/py")


def test_machine_users_of_the_same_names_are_replaced() -> None:
    """A machine with users ``ops`` and ``kafka`` of its own gets fresh ones on the host."""
    taken = Machine(**{**_fields(MACHINE), "users": ("ops", "kafka")})  # type: ignore[arg-type]
    first = cast("list[Argv]", host_plan.plan(BOTH, AT, taken)["first"])
    assert [argv[0] for argv in first[:4]] == ["userdel", "userdel", "useradd", "useradd"]
    untaken = cast("list[Argv]", host_plan.plan(BOTH, AT, MACHINE)["first"])
    assert "userdel" not in [argv[0] for argv in untaken]


def _fields(machine: Machine) -> dict[str, object]:
    return {name: getattr(machine, name) for name in Machine.__slots__}


def test_separate_file_systems_are_shown_read_only() -> None:
    """An overlay over / does not show /usr if that is a file system of its own: it is bound, and cannot be written."""
    apart = Machine(**{**_fields(MACHINE), "separate": ("/usr",)})  # type: ignore[arg-type]
    enter = cast("list[Argv]", host_plan.plan(BOTH, AT, apart)["mount"])
    root = f"{AT}/disk/root"
    at = enter.index(["mount", "--bind", "/usr", f"{root}/usr"])
    assert enter[at + 1] == ["mount", "-o", "remount,bind,ro", f"{root}/usr"]


def test_the_states_of_labs_are_hidden() -> None:
    """A host does not see the keys of its own or any other lab."""
    enter = cast("list[Argv]", host_plan.plan(BOTH, AT, MACHINE)["mount"])
    assert ["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", f"{AT}/disk/root/state"] in enter


def test_an_empty_host_owns_nothing_of_kafka() -> None:
    """A host without roles is a host all the same."""
    first = cast("list[Argv]", host_plan.plan(Seat("spare", "198.18.0.12"), AT, MACHINE)["first"])
    assert not [argv for argv in first if "/var/lib/kafka" in argv and argv[0] == "chown"]
    assert first[-1] == ["touch", host_plan.MARKER]
