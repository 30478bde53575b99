"""What a host is given to heal itself with: the scripts do what they say, and a host's answers are read."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from fake_live import kraft_inventory
from sample_inventory import INVENTORY, secured

from chaosk.core.errors import StepError
from chaosk.core.printable import printable
from chaosk.hosts import lease
from chaosk.hosts.localhost import HERE
from chaosk.hosts.scripts import script
from chaosk.planning.example_cluster import ExampleCluster
from chaosk.planning.resolve import aim
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Fact, Pause, PreparedFault, Run, Signal
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory, Power
from chaosk.spec.scenario import Entry, steps


def fault(undo: tuple[Command, ...], healed: tuple[Command, ...] = (), within: float = 0.0) -> PreparedFault:
    """A fault with this undo, and these facts once it is undone."""
    return PreparedFault(
        name="kill",
        step="kill_broker",
        targets=(Node(kind="broker", id="0", host="node1"),),
        before=(),
        inject=(),
        verify=(),
        undo=tuple(Run(command=command) for command in undo),
        healed=tuple(Fact(says="it is so", query=query, within=within) for query in healed),
    )


def on(host: str, script: str, stdin: str | None = None) -> Command:
    """A command on a host."""
    return Command(host=host, argv=("sh", "-c", script), sudo=True, stdin=stdin)


def execute(script: str) -> int:
    """Run a script as a host would: the exit status."""
    return subprocess.run(["sh"], input=script, text=True, check=False, timeout=30).returncode


def test_one_lease_a_host_with_that_hosts_part_of_the_undo(tmp_path: Path) -> None:
    """A fault on two hosts: each gets its own commands, and heals without the other."""
    one, two = lease.leases(
        fault((on("node1", f"echo 1 >{tmp_path}/1"), on("node2", f"echo 2 >{tmp_path}/2"))), "run-1", "ops@desk"
    )
    assert (one.host, two.host, one.id, two.id) == ("node1", "node2", "run-1.kill", "run-1.kill")
    assert execute(two.undo) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["2"]


def test_what_is_not_done_on_a_host_has_no_lease() -> None:
    """A probe is started by the run, or by nobody: no host can."""
    undo = (Signal(probe="writer", action="start"), Pause(seconds=1))
    assert lease.leases(fault(()).model_copy(update={"undo": undo}), "run-1", "me") == ()


def test_every_command_of_the_undo_is_tried(tmp_path: Path) -> None:
    """One that fails does not keep the next from being done, and the whole has failed."""
    (one,) = lease.leases(fault((on("node1", "exit 1"), on("node1", f"echo >{tmp_path}/done"))), "r", "me")
    assert execute(one.undo) != 0
    assert (tmp_path / "done").exists()


def test_words_reach_the_host_as_they_are(tmp_path: Path) -> None:
    """Quotes, dollars, newlines and input: nothing is read by the shell that should not be."""
    ugly = """it's "$(touch no)" `touch no`; touch no\n$HOME"""
    command = Command(
        host="node1", argv=("sh", "-c", f'cat >{tmp_path}/in; printf %s "$1" >{tmp_path}/arg', "x", ugly), sudo=True,
        stdin=ugly,
    )  # fmt: skip
    (one,) = lease.leases(fault((command,)), "r", "me")
    assert execute(f"cd {tmp_path}\n{one.undo}") == 0
    assert (tmp_path / "in").read_text() == (tmp_path / "arg").read_text() == ugly
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(("query", "status"), [("exit 0", 0), ("exit 1", 1)])
def test_the_check_asks_what_must_be_seen_once_it_is_undone(query: str, status: int) -> None:
    """The host counts itself healed only if what the step demands is so."""
    (one,) = lease.leases(fault((on("node1", "true"),), (on("node1", query),)), "r", "me")
    assert execute(one.check) == status


def test_the_check_waits_as_long_as_the_step_allows(tmp_path: Path) -> None:
    """A process needs a moment to wake."""
    seen = f"[ -e {tmp_path}/looked ] || {{ touch {tmp_path}/looked; exit 1; }}"
    (one,) = lease.leases(fault((on("node1", "true"),), (on("node1", seen),), within=2.0), "r", "me")
    assert execute(one.check) == 0


def test_the_check_leaves_out_what_the_host_cannot_know() -> None:
    """Another host's facts, and conditions of the cluster, are the run's to ask."""
    (one,) = lease.leases(fault((on("node1", "true"),), (on("node2", "exit 1"),)), "r", "me")
    assert execute(one.check) == 0


def test_the_bundle_holds_the_scripts_line_by_line() -> None:
    """Five texts, each with the number of its lines before it."""
    (one,) = lease.leases(fault((on("node1", "true"),), (on("node1", "true"),)), "run-1", "ops@desk", 17)
    rest = lease.arm(one, 12.345).stdin or ""
    parts = []
    while rest:
        count, _, rest = rest.partition("\n")
        lines = rest.splitlines(keepends=True)
        parts.append("".join(lines[: int(count)]))
        rest = "".join(lines[int(count) :])
    assert parts[0] == script("lease")
    assert json.loads(parts[1]) == {
        "run": "run-1", "entry": "kill", "step": "kill_broker", "targets": "broker 0 on node1", "by": "ops@desk",
        "armed": "17",
    }  # fmt: skip
    assert parts[2:] == [one.undo, one.check, one.look]
    assert lease.arm(one, 12.345).argv[4:] == ("arm", "run-1.kill", "12.35")


OWN_TOPICS = {"set_topic_config"}
"""Steps that change what chaosk deletes in its next run: no host keeps their undo."""
LASTING = tuple(
    name
    for name, kind in steps().items()
    if kind.lasting and "probe" not in name and not kind.names and name not in OWN_TOPICS
)


@pytest.mark.parametrize("name", LASTING)
def test_every_step_that_harms_a_host_can_be_undone_by_the_host(name: str) -> None:
    """The example of each lasting step on servers, hosts or the network yields a lease for every host it touches."""
    inventory = kraft_inventory(combined=1) if "controller" in name else secured(_switched(INVENTORY))
    entry = Entry.model_validate({"name": "entry-1", **yaml.safe_load(steps()[name].example)})
    harm = aim(entry, inventory, ExampleCluster(inventory), 1, "run-1")
    touched = {deed.command.host for deed in harm.inject if isinstance(deed, Run)}
    assert touched
    keepers = {one.host for one in lease.leases(harm, "run-1", "me")}
    assert keepers - {HERE} == (touched | set(harm.down)) - {HERE}
    assert (HERE in keepers) is bool(harm.down)  # a host that goes down is switched on from here


UNWATCHED = {
    "burn_cpu", "eat_memory",  # a busy host's share of its processors wavers, and asking takes them as well
    "slow_disk", "fail_disk",  # each question is a read from the disk
    "change_owner",  # reads the whole directory
    "set_broker_config", "set_quota", "deny_access", "swap_certificate",  # who answers may be cut off, and know the old
    "switch_version", "fill_disk",  # processes come and go meanwhile; what is freed is filled by the broker
    "crash_kernel",  # ends by itself
}  # fmt: skip
"""Lasting steps that are asked for at both ends only, with the reason."""


@pytest.mark.parametrize("name", LASTING)
def test_every_step_that_can_be_watched_is(name: str) -> None:
    """By its host where it keeps a lease; a new step gets that for free, unless it says that its facts waver."""
    inventory = kraft_inventory(combined=1) if "controller" in name else secured(_switched(INVENTORY))
    entry = Entry.model_validate({"name": "entry-1", **yaml.safe_load(steps()[name].example)})
    harm = aim(entry, inventory, ExampleCluster(inventory), 1, "run-1")
    looks = [one for one in lease.leases(harm, "run-1", "me") if one.watched]
    assert bool(looks) is (name not in UNWATCHED)
    assert all(f"told {len(one.watched) - 1} timeout " in one.look for one in looks)
    verified = {fact.says for fact in harm.verify}
    assert {fact.says for one in looks for fact in one.watched} <= verified


def _switched(inventory: Inventory) -> Inventory:
    switch = Power(switch_off=("off",), switch_on=("on",), state=("state",))
    hosts = {name: host.model_copy(update={"power": switch}) for name, host in inventory.hosts.items()}
    return inventory.model_copy(update={"hosts": hosts})


def test_a_hosts_list_is_read() -> None:
    """Each line is a lease; what somebody else wrote as `about` is not believed to be ours."""
    about = '{"run": "run-1", "entry": "kill"}'
    one, two = lease.held("node1", f"run-1.kill armed 12.34 {about}\nrun-2.cut booted -3.00 no json\n")
    assert (one.id, one.state, one.left, one.about) == ("run-1.kill", "armed", 12.34, json.loads(about))
    assert (two.id, two.state, two.left, two.about) == ("run-2.cut", "booted", -3.0, {})
    assert lease.held("node1", "") == ()


def test_what_a_host_has_in_its_list_forges_no_line() -> None:
    """Whoever writes there may write for the operator's terminal, which shows it and obeys nothing of it."""
    evil = "kill\x1b]0;title\x07\x1b[2K\nnode2: healed\x85\u2028\u202e"
    about = json.dumps({"run": "r", "entry": evil, "step": "s", "targets": "t"}, ensure_ascii=False)
    (one,) = lease.held("node1", f"r.kill armed 3.5 {about}\n")
    assert one.about["entry"] == printable(evil) != evil
    assert one.about["entry"].isprintable()


@pytest.mark.parametrize("line", ["", "x", "a armed twelve {}", "a burnt 1.00 {}", "a armed 1.00"])
def test_a_list_that_is_none_is_refused(line: str) -> None:
    """A host that says something else must not count as one without leases."""
    with pytest.raises(StepError, match="node1: cannot read its list of leases"):
        lease.held("node1", f"{line}\n")
