"""What is asked of a host and how its answer is read; the script itself runs here, as it would there."""

from __future__ import annotations

import subprocess
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_inventory import INVENTORY

from chaosk.core.errors import StepError
from chaosk.run.preflight.facts import LEASES, CapabilityTest, DiskSpace, HostFacts, ask, read
from chaosk.run.preflight.host_requirements import HostRequirements
from chaosk.spec.command import Command
from chaosk.spec.inventory import Inventory

NEEDS = HostRequirements(tools=("awk", "no-such-tool"), cuts=True)


def answer(command: Command) -> HostFacts:
    """What this machine says to a command, run as the transport would."""
    done = subprocess.run(command.argv, capture_output=True, text=True, timeout=30, check=True)
    found = read("here", done.stdout)
    assert found is not None
    return found


def test_all_that_is_asked_is_answered() -> None:
    """A real shell, the real script: each question has its answer, none is left out."""
    found = answer(ask(INVENTORY, "node1", NEEDS, thorough=True))
    assert found.tools["awk"]
    assert not found.tools["no-such-tool"]
    assert found.programs["/opt/kafka-start"] == "no"
    assert found.space.keys() == {LEASES, "/var/lib/kafka", "/mnt/more"}
    assert found.space[LEASES].size >= found.space[LEASES].free >= 0
    assert found.filters.keys() == {"iptables", "ip6tables", "nft"}
    assert found.kernel.keys() == {"netem", "htb", "timeouts", "numgen", "statistic"}
    assert found.timer in {"systemd", "setsid"}
    assert found.release


def test_a_run_asks_for_less() -> None:
    """No trials of the kernel, and no packet filter where nothing is cut."""
    found = answer(ask(INVENTORY, "node1", HostRequirements(("awk",), cuts=False), thorough=False))
    assert (found.kernel, found.filters) == ({}, {})
    assert "tc" not in found.tools


def test_a_run_asks_the_kernel_for_what_its_steps_need() -> None:
    """And for nothing else: a trial takes a moment on every host."""
    needed = HostRequirements(("awk",), cuts=False, queues=("netem",))
    assert answer(ask(INVENTORY, "node1", needed, thorough=False)).kernel.keys() == {"netem"}
    lossy = HostRequirements(("awk",), cuts=True, losses=True)
    assert answer(ask(INVENTORY, "node1", lossy, thorough=False)).kernel.keys() == {"numgen", "statistic"}


def test_a_folder_that_is_not_there_yet_is_looked_for_above() -> None:
    """Leases are kept in a folder that the first of them makes."""
    command = Command(
        host="here", argv=(*ask(INVENTORY, "node1", NEEDS, thorough=False).argv[:4], "space", "/no/such/x")
    )
    root = Command(host="here", argv=(*command.argv[:4], "space", "/"))
    assert answer(command).space["/no/such/x"].size == answer(root).space["/"].size


def test_data_folders_and_units_are_asked_about() -> None:
    """What the inventory says of the host, and only of this one."""
    kafka = {"host": "a", "service": {"systemd": "kafka.service"}, "data": ["/data/a b"]}
    listeners = {"listeners": {"CLIENT": {"address": "192.0.2.1", "port": 9092}}}
    hosts = {"a": {"address": "192.0.2.1"}, "b": {"address": "192.0.2.2"}}
    inventory = Inventory.model_validate({"name": "x", "hosts": hosts, "brokers": {0: {**kafka, **listeners}}})
    words = ask(inventory, "a", NEEDS, thorough=False).argv
    assert ("unit", "kafka.service") in pairwise(words)
    assert ("space", "/data/a b") in pairwise(words)
    assert "kafka.service" not in ask(inventory, "b", NEEDS, thorough=False).argv


def test_answers_are_read() -> None:
    """Every kind of line; paths with blanks, reasons with anything in them."""
    found = read(
        "a",
        "uid 0\ntimer setsid\nrelease 6.1.0\ntool awk yes\nprogram /opt/a b/start kafka\nunit kafka.service not-found\n"
        "restart zookeeper.service on-failure 1min 30s\n"
        "space /data/a b 10 20 no\nfilter nft none no nft: not found\nfilter iptables legacy yes \n"
        "kernel netem unknown no network namespace\nkernel timeouts yes\n",
    )
    assert found == HostFacts(
        uid=0,
        timer="setsid",
        release="6.1.0",
        tools={"awk": True},
        programs={"/opt/a b/start": "kafka"},
        units={"kafka.service": "not-found"},
        restarts={"zookeeper.service": "on-failure 1min 30s"},
        space={"/data/a b": DiskSpace(10, 20, writable=False)},
        filters={
            "nft": CapabilityTest(works=False, why="nft: not found", flavour="none"),
            "iptables": CapabilityTest(works=True, flavour="legacy"),
        },
        kernel={"netem": CapabilityTest(None, "no network namespace"), "timeouts": CapabilityTest(works=True)},
    )


def test_what_is_no_answer_is_none() -> None:
    """A password prompt, or nothing at all: the script did not run."""
    assert read("a", "") is None
    assert read("a", "sudo: a password is required\n") is None


@pytest.mark.parametrize("line", ["nonsense 1", "space / x y yes", "space /", "uid many"])
def test_a_damaged_answer_is_told_with_its_line(line: str) -> None:
    """Never a traceback, never half an answer taken for whole."""
    with pytest.raises(StepError, match="a: cannot parse the facts of this host: "):
        read("a", f"uid 0\n{line}\n")


@given(st.text())
def test_any_answer_is_read_or_refused(said: str) -> None:
    """A host may say what it likes."""
    try:
        read("a", f"uid 0\n{said}")
    except StepError as error:
        assert len(str(error)) < 900  # noqa: PT017 - the message is bounded, whatever was said
