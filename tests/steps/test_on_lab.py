"""Every step on a real cluster, through the real transport and the run's own engine."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaosk.cluster.topics import prepare
from chaosk.core.errors import StepError
from chaosk.hosts.commands import power
from chaosk.hosts.localhost import boot_id
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Topic

from .lab import Ground, ground, standing

pytestmark = pytest.mark.lab

LAB = "t2"
TALK = "/home/ops/talk"
FOREIGN = """*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:ops-own - [0:0]
-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A INPUT -p tcp -m tcp --dport 9092 -m comment --comment "brokers, \\"always\\"" -j ACCEPT
-A INPUT -j ops-own
-A ops-own -s 192.0.2.1/32 -j REJECT --reject-with icmp-port-unreachable
COMMIT
"""


@pytest.fixture(scope="module")
def lab_inventory() -> Iterator[Inventory]:
    """A lab of three hosts for this module."""
    with standing(LabLayout(name=LAB, supervised=True)) as inventory:
        yield inventory


@pytest.fixture
def lab(lab_inventory: Inventory, tmp_path: Path) -> Iterator[Ground]:
    """The lab's cluster, healed after each test."""
    with ground(lab_inventory, tmp_path) as here:
        yield here


@pytest.fixture(params=["nft", "iptables"])
def cutting(lab: Ground, request: pytest.FixtureRequest) -> Ground:
    """The same cluster, its hosts cut by one or the other."""
    lab.cut_by(request.param)
    return lab


@pytest.mark.parametrize(
    ("kind", "target", "service"),
    [
        ("stop_broker", "broker 1", "kafka"),
        ("kill_broker", "controller", "kafka"),
        ("stop_zookeeper", "zookeeper follower", "zookeeper"),
        ("kill_zookeeper", "zookeeper leader", "zookeeper"),
    ],
)
def test_what_is_taken_down_comes_back(lab: Ground, kind: str, target: str, service: str) -> None:
    """Its process is gone while the fault lasts, and another one serves afterwards; the row says so."""
    life = lab.inject(f"{kind}: {{target: {target}}}")
    host = str(life.fault.targets[0].host)
    lives = f'grep -q -e server.properties -e zoo.cfg "/proc/$(cat /run/kafka/{service}.pid)/cmdline"'
    assert not lab.run(host, "sh", "-c", lives).ok
    lab.end(life)
    assert lab.run(host, "sh", "-c", lives).ok
    assert (life.took, life.why) == (True, [])
    assert lab.rows[-1][:2] == ("fault", kind)


@pytest.mark.long
def test_a_broker_that_was_just_killed_is_started_until_it_stays(lab: Ground) -> None:
    """Kafka ends itself while its old session with ZooKeeper lives; the healing gets it up all the same, and soon."""
    life = lab.inject("kill_broker: {target: broker 2}")
    began = time.monotonic()
    lab.end(life)
    assert time.monotonic() - began < 60
    assert lab.live.broker_answers(2)


def test_a_paused_broker_is_silent_and_wakes_up(lab: Ground) -> None:
    """Its port takes connections, it answers nothing; afterwards it is the same process."""
    before = lab.pid("node2", "kafka")
    life = lab.inject("pause_broker: {target: broker 1}")
    assert lab.connects("node1", "198.18.0.12", 9092)
    assert not lab.live.broker_answers(1)
    lab.end(life)
    assert lab.live.broker_answers(1)
    assert lab.pid("node2", "kafka") == before
    assert life.took


def test_a_rolling_restart_of_zookeeper(lab: Ground) -> None:
    """Each node gets a new process, and the quorum stands at the end."""
    before = [lab.pid(f"node{n}", "zookeeper") for n in (1, 2, 3)]
    life = lab.inject("restart_zookeeper: {target: zookeepers, pause: 100ms}")
    after = [lab.pid(f"node{n}", "zookeeper") for n in (1, 2, 3)]
    assert not set(before) & set(after)
    assert sorted(str(mode) for mode in lab.live.zookeeper_modes().values()) == ["follower", "follower", "leader"]
    assert life.took


def test_a_restart_of_a_broker(lab: Ground) -> None:
    """A new process serves when the step is done, and nothing is left to undo."""
    before = lab.pid("node3", "kafka")
    assert lab.inject("restart_broker: {target: broker 2}").undone
    assert lab.pid("node3", "kafka") != before
    assert lab.live.broker_answers(2)


@pytest.mark.long
def test_a_start_ends_a_kill(lab: Ground) -> None:
    """The kill is over with the start, both took, and only one of them was there to be undone."""
    kill = lab.inject("kill_broker: {target: broker 0}", "kill")
    start = lab.inject("start_broker: {target: broker 0}", "start")
    assert (kill.took, kill.over, kill.healed is not None) == (True, True, True)
    assert start.took


@pytest.mark.long
@pytest.mark.parametrize("kind", ["kill_broker", "stop_broker", "pause_broker", "restart_broker"])
def test_a_dead_target_means_it_did_not_take(lab: Ground, kind: str) -> None:
    """A fault on a broker that is down already must not pass for one that did no harm."""
    kill = lab.inject("kill_broker: {target: broker 1}", "kill")
    with pytest.raises(StepError, match="did not take: not seen: broker 1 on node2 runs"):
        lab.inject(f"{kind}: {{target: broker 1}}", "again")
    assert kill.took


def test_a_running_target_cannot_be_started(lab: Ground) -> None:
    """The other way round."""
    with pytest.raises(StepError, match="did not take: not seen: zookeeper 1 on node1 is gone"):
        lab.inject("start_zookeeper: {target: zookeeper 1}")


def test_somebody_who_starts_it_again_is_noticed(lab: Ground) -> None:
    """Its supervisor was held, and is let go by somebody: the fault did not last, and the row says why."""
    life = lab.inject("kill_broker: {target: broker 1}")
    loop = lab.said("node2", "cat", "/run/kafka/kafka-loop.pid").strip()
    lab.said("node2", "kill", "-CONT", loop)
    lab.await_condition("broker_up(1)")
    lab.end(life)
    assert not life.took
    assert re.match("did not last: .*: broker 1 on node2 is gone", life.why[0])


def test_a_supervisor_may_start_it_again(lab: Ground) -> None:
    """As it was asked to: nobody is held, and another process runs five seconds after the kill; chaosk says so."""
    before = lab.pid("node2", "kafka")
    life = lab.inject("kill_broker: {target: broker 1, restart: supervised}")
    lab.await_condition("broker_up(1)")
    after = lab.pid("node2", "kafka")
    lab.end(life)
    assert (life.took, life.why) == (True, [])
    assert (after != before, lab.pid("node2", "kafka")) == (True, after)
    (back,) = [look for look in life.looks if "not by chaosk" in look.says]
    assert "s after the kill" in back.seen


def test_a_host_lets_a_supervisor_go_by_itself(lab: Ground) -> None:
    """As when chaosk has died: the loop goes on, and it is the loop that starts the broker, not a second one."""
    loop = lab.said("node2", "cat", "/run/kafka/kafka-loop.pid").strip()
    life = lab.inject("kill_broker: {target: broker 1}")
    assert lab.said("node2", "cut", "-d ", "-f3", f"/proc/{loop}/stat").strip() == "T"
    lab.heal("node2", life)
    assert lab.said("node2", "cat", "/run/kafka/kafka-loop.pid").strip() == loop
    assert lab.said("node2", "ps", "-o", "ppid=", "-p", str(lab.pid("node2", "kafka"))).strip() == loop
    lab.end(life)


def test_somebody_who_wakes_it_up_is_noticed(lab: Ground) -> None:
    """A pause that ended early is no pause."""
    life = lab.inject("pause_broker: {target: broker 1}")
    lab.said("node2", "kill", "-CONT", str(lab.pid("node2", "kafka")))
    lab.end(life)
    assert not life.took


@pytest.mark.long
def test_a_frozen_process_that_died_is_started(lab: Ground) -> None:
    """The undo puts back what was there, whatever happened meanwhile."""
    life = lab.inject("pause_broker: {target: broker 2}")
    lab.said("node3", "kill", "-KILL", str(lab.pid("node3", "kafka")))
    lab.end(life)
    assert lab.live.broker_answers(2)


@pytest.mark.long
def test_a_started_service_outlives_the_session(lab: Ground) -> None:
    """Every session of chaosk's user on that host ends; the broker that it started stays."""
    life = lab.inject("kill_broker: {target: broker 1}")
    lab.end(life)
    started = lab.pid("node2", "kafka")
    end_all = "(sleep 0.5; pkill -HUP -u ops sshd) </dev/null >/dev/null 2>&1 &"
    session = lab.said("node2", "sh", "-c", f"echo $SSH_CONNECTION; {end_all}")
    time.sleep(2)
    assert lab.said("node2", "sh", "-c", "echo $SSH_CONNECTION") != session
    assert lab.pid("node2", "kafka") == started
    assert lab.run("node2", "kill", "-0", str(started)).ok


def test_a_preferred_election(lab: Ground) -> None:
    """After a broker was down it leads nothing; the election gives its partitions back, one of them or all."""
    prepare(lab.brokers, {"elections": Topic(partitions=3, replication_factor=3)})
    lab.end(lab.inject("stop_broker: {target: broker 0}", "stop"))
    lab.await_condition("isr_full(elections)")
    moved = [one.partition for one in lab.live.partitions("elections") if one.leader != one.replicas[0]]
    assert len(moved) == 1
    lab.inject(f"elect_leader: {{topic: elections, partitions: {moved}}}", "one")
    lab.inject("elect_leader: {topic: elections}", "all")
    assert all(one.leader == one.replicas[0] for one in lab.live.partitions("elections"))


@pytest.mark.long
def test_a_preferred_election_without_the_preferred_leader(lab: Ground) -> None:
    """It cannot be elected while it is dead: the step does not take."""
    prepare(lab.brokers, {"elections": Topic(partitions=3, replication_factor=3)})
    lab.inject("kill_broker: {target: broker 0}", "kill")
    lab.await_condition("leader_elected(elections)")
    with pytest.raises(StepError):
        lab.inject("elect_leader: {topic: elections}", "elect")


def test_partitions_move_and_a_move_is_cancelled(lab: Ground) -> None:
    """They are where they should be, in sync; one to a frozen broker stays under way until it is cancelled."""
    prepare(lab.brokers, {"moved": Topic(partitions=2, replication_factor=2)})
    lab.inject("reassign_partitions: {topic: moved, replicas: [broker 2, broker 1]}", "move")
    assert [one.replicas for one in lab.live.partitions("moved")] == [(2, 1), (2, 1)]
    with pytest.raises(StepError, match="being reassigned: none"):
        lab.inject("cancel_reassignment: {topic: moved}", "too late")
    frozen = lab.inject("pause_broker: {target: broker 0}", "freeze")
    half = "reassign_partitions: {topic: moved, partitions: [1], replicas: [broker 0, broker 1], until: accepted}"
    lab.inject(half, "half")
    assert lab.live.reassigning("moved") == (1,)
    lab.inject("cancel_reassignment: {topic: moved}", "cancel")
    lab.end(frozen)
    assert [set(one.replicas) for one in lab.live.partitions("moved")] == [{2, 1}, {2, 1}]


def test_a_host_cut_from_everyone_else(cutting: Ground) -> None:
    """Nobody connects to it, it connects to nobody, SSH works; afterwards all is as it was, rules byte for byte."""
    for host in cutting.inventory.hosts:
        cutting.foreign_rules(host, FOREIGN)
    before = [cutting.firewall(f"node{n}") for n in (1, 2, 3)]
    life = cutting.inject("cut_network: {between: [host node2, everyone else]}")
    assert not cutting.connects("node1", "198.18.0.12", 9092)
    assert not cutting.connects("node2", "198.18.0.11", 2181)
    assert not cutting.live.broker_answers(1)
    assert cutting.connects("node2", "198.18.0.12", 9092)
    assert cutting.connects("node1", "198.18.0.13", 9092)
    assert cutting.said("node2", "echo", "ssh works") == "ssh works\n"
    cutting.end(life)
    assert life.took
    assert [cutting.firewall(f"node{n}") for n in (1, 2, 3)] == before
    assert cutting.connects("node1", "198.18.0.12", 9092)


@pytest.mark.parametrize("action", ["drop", "reject"])
def test_established_connections_die(cutting: Ground, action: str) -> None:
    """Although a rule of the host's own accepts what is established, nothing passes any more.

    ZooKeeper answers ``Zookeeper version: ...``, or ``This ZooKeeper instance is not currently serving requests`` for
    a while after the cut: either way it answers.
    """
    cutting.foreign_rules("node1", FOREIGN)
    talk = "exec 3<>/dev/tcp/198.18.0.11/2181 && sleep 2 && echo srvr >&3 && timeout 2 head -c 9 <&3"
    serve = f'(bash -c "{talk}" >{TALK} 2>&1; echo "ended $?" >>{TALK}) </dev/null >/dev/null 2>&1 &'
    cutting.said("node2", "sh", "-c", serve)
    life = cutting.inject(f"cut_network: {{between: [host node1, host node2], action: {action}}}")
    cutting.said("node2", "sh", "-c", f"while ! grep -q ended {TALK}; do sleep 0.1; done")
    assert "zook" not in cutting.said("node2", "cat", TALK).lower()
    cutting.end(life)
    cutting.said("node2", "sh", "-c", serve.replace("&& sleep 2", "").replace("timeout 2", "timeout 30"))
    cutting.said("node2", "sh", "-c", f"while ! grep -q ended {TALK}; do sleep 0.1; done")
    assert "zook" in cutting.said("node2", "cat", TALK).lower()


def test_one_listener_alone(lab: Ground) -> None:
    """Replication to one broker is cut, its clients come in."""
    life = lab.inject('cut_network: {between: ["listener(REPLICATION, broker 1)", [broker 0, broker 2]]}')
    assert not lab.connects("node1", "198.18.0.12", 9093)
    assert lab.connects("node1", "198.18.0.12", 9092)
    assert lab.connects("node2", "198.18.0.11", 9093)
    assert lab.live.broker_answers(1)
    lab.end(life)


def test_probes_from_one_broker(lab: Ground) -> None:
    """This machine does not reach it, the other hosts do."""
    life = lab.inject("cut_network: {between: [probes, broker 1]}")
    assert not lab.live.broker_answers(1)
    assert lab.connects("node1", "198.18.0.12", 9092)
    lab.end(life)
    assert lab.live.broker_answers(1)


def test_one_way(cutting: Ground) -> None:
    """Packets to the host are stopped, packets from it are not: its SYN arrives, the answer does not."""
    life = cutting.inject("cut_network: {between: [host node1, host node2], direction: in}")
    assert not cutting.connects("node1", "198.18.0.12", 9092)
    assert not cutting.connects("node2", "198.18.0.11", 9092)
    listed = cutting.firewall("node1")
    assert ("-A INPUT -m comment" in listed) != ("chain input {" in listed)
    assert "-A OUTPUT -m comment" not in listed
    assert "chain output {" not in listed
    cutting.end(life)


def test_a_reset_ends_what_there_is_and_ssh_goes_on(lab: Ground) -> None:
    """Brokers and ZooKeeper connect anew at once; where there is nothing to end it did not take."""
    session = lab.said("node1", "sh", "-c", "echo $SSH_CONNECTION")
    before = lab.firewall("node1")
    life = lab.inject("reset_connections: {between: [host node1, everyone else]}", "all")
    assert (life.took, life.over, life.undone) == (True, True, True)
    assert lab.said("node1", "sh", "-c", "echo $SSH_CONNECTION") == session
    assert lab.connects("node2", "198.18.0.11", 9092)
    lab.await_condition("broker_up(0)")
    with pytest.raises(StepError, match="there is no connection between them"):
        lab.inject("reset_connections: {between: [host node1, host node2], ports: [1]}", "none")
    assert lab.firewall("node1") == before


@pytest.mark.parametrize("first", [0, 1])
def test_two_cuts_end_in_either_order(lab: Ground, first: int) -> None:
    """Overlapping faults on one host: ending one leaves the other."""
    lives = [
        lab.inject("cut_network: {between: [host node1, host node2]}", "one"),
        lab.inject("cut_network: {between: [host node1, host node3]}", "two"),
    ]
    lab.end(lives[first])
    assert lab.connects("node1", f"198.18.0.1{2 + first}", 9092)
    assert not lab.connects("node1", f"198.18.0.1{3 - first}", 9092)
    lab.end(lives[1 - first])
    assert all(life.took for life in lives)


DAMAGE = {
    "iptables -F": "iptables",
    "iptables -D INPUT 1": "iptables",
    "iptables -I INPUT 1 -j ACCEPT": "iptables",
    "nft flush ruleset": "nft",
    "nft list tables | sed -n 's/.*chaosk/nft flush set inet chaosk/; s/$/ lease/p' | sh": "nft",
}
"""By what somebody does the kind of cut that does not survive it."""


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_rule_removed_underneath_is_noticed(lab: Ground, damage: str) -> None:
    """Somebody changes the firewall while the cut lasts: it did not, and what is left of it is cleaned up."""
    lab.cut_by(DAMAGE[damage])
    life = lab.inject("cut_network: {between: [host node3, everyone else]}")
    lab.said("node3", "sh", "-c", damage)
    lab.end(life)
    assert not life.took
    assert "did not last" in life.why[0]
    assert "chaosk" not in lab.firewall("node3").lower()
    lab.run("node3", "sh", "-c", "iptables -D INPUT -j ACCEPT")


def test_the_cluster_feels_a_cut_leader(lab: Ground) -> None:
    """The controller elects another leader for a partition whose leader's host is cut off."""
    prepare(lab.brokers, {"felt": Topic(partitions=1, replication_factor=3)})
    (before,) = lab.live.partitions("felt")
    life = lab.inject('cut_network: {between: ["host(leader(felt, 0))", everyone else]}')
    others = [n for n in (0, 1, 2) if n != before.leader]
    for _ in range(300):
        (now,) = lab.live.partitions("felt")
        if now.leader in others:
            break
        lab.said("node1", "sleep", "0.1")
    assert now.leader in others
    lab.end(life)
    lab.await_condition("isr_full(felt)")
    assert life.took


@pytest.mark.parametrize(
    ("whose", "why"),
    [
        (boot_id, "shares the kernel of the machine that chaosk runs on"),
        (lambda: str(uuid.uuid4()), "this host is a container"),
    ],
    ids=["this machine's", "another's"],
)
def test_a_namespace_host_is_never_ended(lab: Ground, whose: Callable[[], str], why: str) -> None:
    """Whatever its inventory says: it has this machine's boot id; and if that were another, it is a container still.

    Only asked: an end that is wrongly let through would be that of the machine on which the tests run.
    """
    for host in lab.inventory.hosts:
        done = lab.ssh.run(power.is_own(host, whose()))
        assert not done.ok
        assert why in done.stderr
