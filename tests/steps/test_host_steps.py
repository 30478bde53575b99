"""power_off, reboot and crash_kernel: what they yield, and whom they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.core.errors import StepError
from chaosk.hosts import lease
from chaosk.hosts.localhost import HERE
from chaosk.planning.conflicts import contradiction
from chaosk.planning.resolve import freeze
from chaosk.spec.contracts.step import PreparedFault, Run
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory, Power
from chaosk.spec.scenario import Entry

from .conftest import BROKERS, HOSTS, PROBES, site, step, told

SWITCH = Power(
    switch_off=("bmc", "node 1", "off"), switch_on=("bmc", "node 1", "on"), state=("bmc", "node 1", "status")
)
ALL = ["power_off", "reboot", "crash_kernel"]


@pytest.fixture
def switched(inventory: Inventory) -> Inventory:
    """Every host has a power switch."""
    return _with(inventory, power=SWITCH)


def _with(inventory: Inventory, **said: object) -> Inventory:
    hosts = {name: host.model_copy(update=said) for name, host in inventory.hosts.items()}
    return inventory.model_copy(update={"hosts": hosts})


def fault(inventory: Inventory, text: str, *nodes: Node, name: str = "entry") -> PreparedFault:
    """A step, aimed at nodes."""
    entry = Entry.model_construct(name=name, kind=text.partition(":")[0], step=step(text), lasts=None, when=None)
    return freeze(entry, inventory, {"it": nodes}, "run-1")


def test_the_life_of_a_power_cut(switched: Inventory) -> None:
    """Its switch is thrown from here; the undo throws it back, waits, and starts on the host what does not run."""
    cut, here = step("power_off: {target: it}"), site(switched, it=HOSTS[:1])
    running = ["node1: runs", "node1: runs"]
    assert told(cut.before(here)) == [f"{HERE}: is-on", "node1: own", *running]
    assert told(cut.inject(here)) == [f"{HERE}: off"]
    assert told(cut.verify(here)) == [f"{HERE}: is-off", f"{HERE}: silent"]
    assert told(cut.undo(here)) == [f"{HERE}: on", f"{HERE}: revive", "node1: own", "node1: start", "node1: start"]
    assert told(cut.healed(here)) == [
        f"{HERE}: answers", "node1: awake", "zookeeper_up(1)", "node1: awake", "broker_up(0)",
    ]  # fmt: skip


def test_the_switch_is_words_that_no_shell_takes_apart(switched: Inventory) -> None:
    """Each of its commands is one word of the script's, quoted once."""
    (deed,) = step("power_off: {target: it}").inject(site(switched, it=HOSTS[:1]))
    assert isinstance(deed, Run)
    assert deed.command.argv[4:] == (
        "off", "198.18.0.11", "22", "bmc 'node 1' status", "bmc 'node 1' off", "bmc 'node 1' on",
    )  # fmt: skip
    assert not deed.command.sudo


def test_its_lease_is_kept_here_and_what_the_host_has_to_start_there(switched: Inventory) -> None:
    """A host that is off heals nothing: this machine switches it on, by the same script as any lease's."""
    cut = fault(switched, "power_off: {target: it}", HOSTS[0])
    here, there = lease.leases(cut, "run-1", "me@desk")
    assert (here.host, there.host) == (HERE, "node1")
    assert "chaosk revive" in here.undo
    assert "chaosk start" in there.undo
    assert not lease.arm(here, 5).sudo
    assert lease.arm(there, 5).sudo
    guarded = lease.guarded(cut.inject[0], lease.all_of((here, there)))
    assert isinstance(guarded, Run)
    assert guarded.command.argv[4:7] == ("under", "run-1.entry", "run-1")
    assert cut.down == ("node1",)


def test_the_life_of_a_reboot(switched: Inventory) -> None:
    """It ends the kernel, sees another boot, starts what does not run: that, like an undo, with no lease alive."""
    again, here = step("reboot: {target: it}"), site(switched, it=HOSTS[:1])
    deeds = list(again.inject(here))
    assert told(deeds) == ["node1: end", "node1: changed", "node1: start", "node1: start"]
    assert [deed.heals for deed in deeds if isinstance(deed, Run)] == [False, True, True]
    assert told(again.verify(here))[:2] == ["node1: changed", f"{HERE}: answers"]
    for how, word in (("clean", "reboot"), ("hard", "reset")):
        first = next(iter(step(f"reboot: {{target: it, how: {how}}}").inject(here)))
        assert isinstance(first, Run)
        assert first.command.argv[-2:] == ("run-1.entry", word)


def test_a_crash_may_end_by_itself(switched: Inventory, inventory: Inventory) -> None:
    """Silence is seen once; a host without a switch has to boot by itself, and nobody throws one."""
    (seen,) = step("crash_kernel: {target: it}").verify(site(switched, it=HOSTS[:1]))
    assert not seen.still
    alone, here = _with(inventory, own_kernel=True), step("crash_kernel: {target: it}")
    assert told(here.before(site(alone, it=HOSTS[:1])))[-1] == "node1: returns"
    assert told(here.undo(site(alone, it=HOSTS[:1]))) == ["node1: own", "node1: start", "node1: start"]


def test_the_host_is_told_which_machine_must_not_end(switched: Inventory) -> None:
    """The boot id of the machine that chaosk runs on goes with every command that looks, or ends a kernel."""
    for text in ("reboot: {target: it}", "crash_kernel: {target: it}"):
        one = fault(switched, text, HOSTS[0])
        (end,) = [deed.command for deed in one.inject if isinstance(deed, Run) and deed.command.argv[4] == "end"]
        assert end.argv[5] == Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()


@pytest.mark.parametrize("kind", ALL)
def test_a_host_of_which_nothing_is_said(inventory: Inventory, kind: str) -> None:
    """No command is made for it, and the message says what to write."""
    with pytest.raises(StepError, match=r"hosts\.node1\.(power|own_kernel).*lab up --hosts vms"):
        fault(inventory, f"{kind}: {{target: it}}", BROKERS[0])


def test_a_host_without_a_switch_can_be_rebooted_only(inventory: Inventory) -> None:
    """`own_kernel` says that it is a machine; who would switch it on again it does not say."""
    alone = _with(inventory, own_kernel=True)
    assert told(fault(alone, "reboot: {target: it}", HOSTS[0]).inject)[0] == "node1: end"
    with pytest.raises(StepError, match="node1 has no power switch"):
        fault(alone, "power_off: {target: it}", HOSTS[0])


@pytest.mark.parametrize("kind", ALL)
def test_a_probe_is_no_host(switched: Inventory, kind: str) -> None:
    """It runs beside chaosk."""
    with pytest.raises(StepError, match="name hosts"):
        fault(switched, f"{kind}: {{target: it}}", PROBES)


def test_all_that_runs_there_is_harmed(switched: Inventory) -> None:
    """Aimed at a broker, its ZooKeeper node is away as well: limits of harm count both."""
    (harm,) = fault(switched, "power_off: {target: it}", BROKERS[0]).harm
    assert sorted(str(node) for node in harm.away) == ["broker 0 on node1", "zookeeper 1 on node1"]


def test_nothing_else_may_be_in_place_on_a_host_that_goes_down(switched: Inventory) -> None:
    """It would not outlast the boot, whichever comes first; on another host it may."""
    cut = fault(switched, "power_off: {target: it}", HOSTS[0], name="cut")
    for text in (
        "kill_broker: {target: it}",
        "fill_disk: {target: it, size: 1MiB}",
        "burn_cpu: {target: it, cores: 1}",
    ):
        other, elsewhere = (fault(switched, text, node, name="other") for node in BROKERS[:2])
        assert "node1 goes down by one of" in str(contradiction(cut, (), [other]))
        assert "node1 goes down by one of" in str(contradiction(other, (), [cut]))
        assert contradiction(cut, (), [elsewhere]) is None
