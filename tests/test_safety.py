"""What is refused of a scenario on a given cluster, before anything is done to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_live import inventory, kraft_inventory
from sample_documents import written

from chaosk.core.errors import PreflightError, UsageError
from chaosk.document import load_scenario
from chaosk.planning.safety import refuse
from chaosk.spec.inventory import Inventory

HEAD = """\
name: x
hypothesis: y
topics: {orders: {partitions: 3}}
probes: {writer: {produce: {topic: orders}}}
"""


def told(
    tmp_path: Path,
    timeline: str,
    head: str = HEAD,
    here: frozenset[str] = frozenset(),
    *,
    cluster: Inventory | None = None,
) -> str:
    """What is said against a timeline, unless told otherwise on three brokers and ZooKeeper nodes; empty if nothing."""
    scenario = load_scenario(written(tmp_path, f"{head}timeline:\n{timeline}"))
    try:
        refuse(scenario, cluster or inventory(), here)
    except PreflightError as error:
        return str(error)
    return ""


TWO = "- {name: one, at: 1s, stop_zookeeper: {target: zookeeper 1}, for: 10s}\n"


def test_two_that_overlap_pass_a_limit_together(tmp_path: Path) -> None:
    """The second ZooKeeper node of three while the first is away; not once that one is back."""
    second = "- {name: two, at: %ss, kill_zookeeper: {target: zookeeper 2}, for: 10s}\n"
    found = told(tmp_path, TWO + second % 5)
    assert "two: with one in place, it would leave no majority of the 3 ZooKeeper nodes" in found
    assert "nothing was touched" in found
    assert told(tmp_path, TWO + second % 11) == ""


def test_the_order_in_the_file_does_not_matter(tmp_path: Path) -> None:
    """What counts is when they are in place."""
    early = "- {name: two, at: 0s, kill_zookeeper: {target: zookeeper 2}, for: 10s}\n"
    assert "no majority" in told(tmp_path, TWO + early)


def test_a_reason_lifts_the_limit(tmp_path: Path) -> None:
    """Only the one it is for."""
    second = "- {name: two, at: 5s, kill_zookeeper: {target: zookeeper 2}, for: 10s}\n"
    assert told(tmp_path, TWO + second, HEAD + "allow: {zookeeper_majority: to see it}\n") == ""
    assert "no majority" in told(tmp_path, TWO + second, HEAD + "allow: {all_brokers: to see it}\n")


def test_a_host_counts_for_all_that_runs_on_it(tmp_path: Path) -> None:
    """Two hosts cut off are two ZooKeeper nodes and two brokers; one of them and a process on it are one."""
    cut = "- {name: cut, at: 1s, cut_network: {between: [host node1, everyone else]}, for: 10s}\n"
    other = "- {name: more, at: 2s, cut_network: {between: [host(broker 1), everyone else]}, for: 3s}\n"
    assert "no majority" in told(tmp_path, cut + other)
    assert told(tmp_path, cut + "- {name: more, at: 2s, kill_zookeeper: {target: zookeeper 1}, for: 3s}\n") == ""


def test_a_start_makes_room(tmp_path: Path) -> None:
    """A kill that a start has ended counts no more."""
    kill = "- {name: kill, at: 1s, kill_zookeeper: {target: zookeeper 1}}\n"
    start = "- {name: start, at: 5s, start_zookeeper: {target: zookeeper 1}}\n"
    more = "- {name: more, at: 9s, kill_zookeeper: {target: zookeeper 2}}\n"
    assert told(tmp_path, kill + start + more) == ""
    assert "more: with kill in place" in told(tmp_path, kill + more)


def test_contradictions_behind_different_words(tmp_path: Path) -> None:
    """`zookeepers on node1` is ZooKeeper 1: only the inventory knows."""
    timeline = TWO + "- {name: two, at: 5s, pause_zookeeper: {target: zookeepers_on(broker 0)}, for: 1s}\n"
    kind = "kill_zookeeper"
    found = told(tmp_path, timeline.replace("pause_zookeeper", kind))
    assert "the process of zookeeper 1 on node1 is already affected by one (stop_zookeeper)" in found


def test_the_machine_that_chaosk_runs_on_is_not_cut(tmp_path: Path) -> None:
    """Its processes may be killed; the host itself is how all others are healed."""
    cut = "- {name: cut, at: 1s, cut_network: {between: [host node1, everyone else]}, for: 10s}\n"
    found = told(tmp_path, cut, here=frozenset({"node1"}))
    assert "node1 is the machine that chaosk runs on" in found
    assert told(tmp_path, cut, here=frozenset({"node2"})) == ""
    kill = "- {name: kill, at: 1s, kill_broker: {target: broker 0}, for: 10s}\n"
    assert told(tmp_path, kill, here=frozenset({"node1"})) == ""


def test_targets_that_only_the_cluster_knows_are_left_to_it(tmp_path: Path) -> None:
    """Leaders and draws may be anybody: they are looked at when they are aimed."""
    timeline = (
        '- {name: one, at: 1s, kill_broker: {target: "leader(orders, 0)"}, for: 10s}\n'
        '- {name: two, at: 2s, kill_zookeeper: {target: "random(1, zookeepers)"}, for: 10s}\n'
        "- {name: three, at: 3s, kill_zookeeper: {target: zookeeper leader}, for: 10s}\n"
    )
    assert told(tmp_path, timeline) == ""


def test_ssh_is_never_cut(tmp_path: Path) -> None:
    """Asked for by the port that the inventory gives it, or by a listener that the inventory puts there."""
    odd = inventory()
    odd = odd.model_copy(update={"hosts": {n: h.model_copy(update={"port": 9092}) for n, h in odd.hosts.items()}})
    for cut in ("between: [broker 0, broker 1]", "between: [host node1, host node2], ports: [9092]"):
        scenario = load_scenario(written(tmp_path, f"{HEAD}timeline:\n- {{at: 1s, cut_network: {{{cut}}}, for: 1s}}\n"))
        with pytest.raises(UsageError, match="SSH"):
            refuse(scenario, odd, frozenset())
        refuse(scenario, inventory(), frozenset())


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (
            "kill_zookeeper: {target: zookeeper leader}",
            "kill_zookeeper: there is no ZooKeeper in KRaft mode; write kill_c",
        ),
        ("stop_zookeeper: {target: zookeeper 1}", "zookeeper 1: there is no ZooKeeper in KRaft mode; write controller"),
        (
            "restart_zookeeper: {target: zookeepers}",
            "zookeepers: there is no ZooKeeper in KRaft mode; write controllers",
        ),
        ("cut_network: {between: [broker 0, 'random(1, zookeepers)']}", "zookeepers: there is no ZooKeeper"),
        (
            "when: zookeeper_quorum, kill_broker: {target: broker 0}",
            "zookeeper_quorum: there is no ZooKeeper in KRaft mode",
        ),
        (
            "when: 'any(broker_up(0), not(zookeeper_quorum))', kill_broker: {target: broker 0}",
            "zookeeper_quorum: there is no ZooKeeper in KRaft mode",
        ),
    ],
)
def test_what_speaks_of_zookeeper_is_refused_in_kraft_mode(tmp_path: Path, entry: str, says: str) -> None:
    """Before anything is done, wherever it is said, and with what to write instead."""
    found = told(tmp_path, f"- {{name: one, {entry}}}\n", cluster=kraft_inventory())
    assert "the scenario does not fit fake; nothing was touched" in found
    assert f"one: {says}" in found


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (
            "kill_controller: {target: controller}",
            "for KRaft, not ZooKeeper; the controller is a broker there: write kill_b",
        ),
        (
            "when: controller_quorum, kill_broker: {target: broker 0}",
            "controller_quorum: that is for KRaft, not ZooKeeper",
        ),
    ],
)
def test_what_speaks_of_the_quorum_is_refused_with_zookeeper(tmp_path: Path, entry: str, says: str) -> None:
    """The same the other way round."""
    assert says in told(tmp_path, f"- {{name: one, {entry}}}\n")


def test_the_controller_is_somebody_in_both_modes(tmp_path: Path) -> None:
    """One scenario for both: the broker that ZooKeeper's election made it, or who leads the quorum."""
    entry = "- {name: one, at: 1s, kill_broker: {target: controller}, for: 10s}\n"
    assert told(tmp_path, entry) == told(tmp_path, entry, cluster=kraft_inventory(combined=3, controllers=0)) == ""


@pytest.mark.parametrize("target", ["controller", "controllers", "'random(1, controllers)'"])
def test_a_controller_that_is_no_broker_is_refused_where_a_step_takes_brokers(tmp_path: Path, target: str) -> None:
    """Before anything is touched, though which controller it is only the running cluster tells.

    Not by a step for any server, and not where a controller of the quorum is a broker as well.
    """
    entry = f"- {{name: one, at: 1s, pause_broker: {{target: {target}}}, for: 10s}}\n"
    allowed = HEAD + "allow: {controller_majority: to see it, all_brokers: to see it}\n"
    found = told(tmp_path, entry, allowed, cluster=kraft_inventory())
    assert "names a controller, and pause_broker is done to a broker; aim at one" in found
    anybody = entry.replace("pause_broker", "pause")
    assert told(tmp_path, anybody, allowed, cluster=kraft_inventory()) == ""
    assert told(tmp_path, entry, allowed, cluster=kraft_inventory(combined=3, controllers=0)) == ""


def test_two_controllers_of_three_pass_the_limit_together(tmp_path: Path) -> None:
    """As two ZooKeeper nodes do; a reason lifts it."""
    both = (
        "- {name: one, at: 1s, stop_controller: {target: controller 101}, for: 10s}\n"
        "- {name: two, at: 5s, kill_controller: {target: controller 102}, for: 10s}\n"
    )
    assert "no majority of the 3 controllers" in told(tmp_path, both, cluster=kraft_inventory())
    lifted = HEAD + "allow: {controller_majority: to see it}\n"
    assert told(tmp_path, both, lifted, cluster=kraft_inventory()) == ""


@pytest.mark.parametrize(
    "step",
    [
        "slow_disk: {target: X, write: 1s}",
        "fail_disk: {target: X}",
        "kill_broker: {target: X, how: oom_killer}",
    ],
)
@pytest.mark.parametrize("target", ["broker 0", "leader(orders, 0)"])
def test_kernels_that_are_not_the_hosts_own(tmp_path: Path, step: str, target: str) -> None:
    """Their disks and their memory are the whole machine's: refused before anything is done, with what to write."""
    entry = f"- {{name: down, at: 1s, {step}}}\n".replace("X", f'"{target}"')
    found = told(tmp_path, entry)
    assert "the scenario does not fit fake; nothing was touched" in found
    assert "hosts.node1.own_kernel" in found
    own = {name: host.model_copy(update={"own_kernel": True}) for name, host in inventory().hosts.items()}
    assert told(tmp_path, entry, cluster=inventory().model_copy(update={"hosts": own})) == ""


@pytest.mark.parametrize("kind", ["power_off", "reboot", "crash_kernel"])
@pytest.mark.parametrize("target", ["broker 0", "leader(orders, 0)"])
def test_hosts_that_cannot_be_taken_down(tmp_path: Path, kind: str, target: str) -> None:
    """Before anything is done, also where only the cluster knows which host it will be: what to write is said."""
    found = told(tmp_path, f'- {{name: down, at: 1s, {kind}: {{target: "{target}"}}}}\n')
    assert "the scenario does not fit fake; nothing was touched" in found
    assert "down: " in found
    assert "hosts.node1." in found
    assert "lab up --hosts vms" in found


def test_hosts_that_can(tmp_path: Path) -> None:
    """One machine of its own is enough for a target that is there; for a leader each host has to be."""
    hosts = dict(inventory().hosts)
    hosts["node1"] = hosts["node1"].model_copy(update={"own_kernel": True})
    cluster = inventory().model_copy(update={"hosts": hosts})
    assert told(tmp_path, "- {name: down, at: 1s, reboot: {target: broker 0}}\n", cluster=cluster) == ""
    leader = '- {name: down, at: 1s, reboot: {target: "leader(orders, 0)"}}\n'
    assert "hosts.node2.own_kernel" in told(tmp_path, leader, cluster=cluster)
