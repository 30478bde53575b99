"""Each fault that is planted in a real cluster is found, by name, with what to do; and nothing else is bad then.

A clock that is off is not among them, because the lab's hosts share this machine's: see test_clocks.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.admin import IncrementalAlterConfigsRequest

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.topic_admin import delete_topics
from chaosk.cluster.topics import prepare
from chaosk.hosts import lease, lock
from chaosk.hosts.lease import Lease
from chaosk.spec.scenario import Topic

from .conftest import Ward

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300), pytest.mark.long]

SCENARIO = """\
name: A scenario
hypothesis: It needs what it needs.
topics: {orders: {partitions: 1}}
probes: {writer: {produce: {topic: orders, rate: 10/s}}}
timeline:
"""
NO_FILTER = ("mv /usr/sbin/nft /usr/sbin/iptables /tmp", "mv /tmp/nft /tmp/iptables /usr/sbin")


def test_a_whole_cluster_is_fit(ward: Ward) -> None:
    """Exit 0, and a table that says so; nothing is bad, nothing is unknown."""
    ward.fit()
    code, findings = ward.doctor()
    assert code == 0
    assert {one["state"] for one in findings} <= {"ok", "warning"}
    assert {one["where"] for one in findings} >= {"node1", "node2", "node3", "broker 0", "cluster"}
    told = ward.chaosk("doctor")
    assert told.returncode == 0
    assert "A run may start." in told.stdout


def test_disks_and_memory_that_are_the_whole_machines(ward: Ward, tmp_path: Path) -> None:
    """No run starts: by what the inventory does not say, and where it lies by what each host knows of itself."""
    scenario = tmp_path / "scenario.yaml"
    lying = ward.copy(tmp_path / "lying.yaml", **{"    key_file": "    own_kernel: true\n    key_file"})
    for step in ("slow_disk: {target: broker 1, write: 1s}", "kill_broker: {target: broker 1, how: oom_killer}"):
        scenario.write_text(f"{SCENARIO}  - {{at: 1s, {step}}}\n", "utf-8")
        said = ward.one("scenario", "hosts", str(scenario))
        assert said["seen"].endswith("in a container or a namespace this would hit the whole machine")
        assert "hosts.node2.own_kernel" in said["todo"]
        code, findings = ward.doctor(str(scenario), inventory=lying)
        (bad,) = [one for one in findings if one["what"] == step.partition(":")[0] and one["state"] == "bad"]
        assert (code, bad["where"], bad["state"]) == (69, "node2", "bad")
        assert "this host shares the kernel of the machine that chaosk runs on" in bad["seen"]


def test_a_directory_that_cannot_be_made_read_only(ward: Ward, tmp_path: Path) -> None:
    """A file system mounted below it would be hidden; the host says so before the run."""
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(f'{SCENARIO}  - {{at: 1s, remount_read_only: {{target: "leader(orders, 0)"}}}}\n', "utf-8")
    spoil = "mkdir -p /var/lib/kafka/x; mount -t tmpfs x /var/lib/kafka/x"
    with ward.spoilt("node2", spoil, "umount /var/lib/kafka/x; rmdir /var/lib/kafka/x"):
        said = ward.one("node2", "remount_read_only", str(scenario))
    assert "there are other mounts below /var/lib/kafka" in said["seen"]


def test_a_broker_that_is_not_configured_as_a_scenario_needs(ward: Ward, tmp_path: Path) -> None:
    """The run would refuse it; so the doctor says it, of each broker, with what it is and what is needed."""
    scenario = tmp_path / "scenario.yaml"
    wanted = "cluster: {config: {num.partitions: 77}}\n"
    scenario.write_text(f"{wanted}{SCENARIO}  - {{at: 1s, kill_broker: {{target: broker 1}}, for: 1s}}\n", "utf-8")
    code, findings = ward.doctor(str(scenario))
    bad = [one for one in findings if one["state"] == "bad"]
    assert code == 69
    assert {(one["where"], one["what"]) for one in bad} == {(f"broker {n}", "configuration") for n in range(3)}
    assert {one["seen"].partition("; ")[2] for one in bad} == {"the scenario needs num.partitions: 77"}


def test_a_user_without_sudo(ward: Ward) -> None:
    """Whose right it is, on which host, and what would give it; what takes root there is unknown, not well."""
    spoil = "cp -p /etc/sudoers /etc/sudoers.away; sed -i /NOPASSWD/d /etc/sudoers"
    with ward.spoilt("node2", spoil, "mv /etc/sudoers.away /etc/sudoers"):
        found = ward.one("node2", "root")
        _, findings = ward.doctor()
    assert found["state"] == "bad"
    assert "ops cannot become root there without a password (sudo: " in found["seen"]
    assert "chaosk sudoers" in found["todo"]
    assert [one["state"] for one in findings if one["what"] == "tools, services, room"] == ["unknown"]
    ward.fit()


def test_a_wrong_host_key(ward: Ward, tmp_path: Path) -> None:
    """A key that is not the known one: its fingerprint, and what it may mean. The other hosts are examined."""
    known = (ward.path.parent / "known_hosts").read_text("utf-8").splitlines()
    foreign = known[0].split(" ", 1)[1]
    wrong = [line if "node3" not in line else f"{line.split(' ', 1)[0]} {foreign}" for line in known]
    (tmp_path / "known").write_text("\n".join(wrong) + "\n", "utf-8")
    changed = {str(ward.path.parent / "known_hosts"): str(tmp_path / "known")}
    found = ward.one("node3", "host key", inventory=ward.copy(tmp_path / "wrong.yaml", **changed))
    assert found["state"] == "bad"
    assert "its host key changed: it offers ssh-ed25519 SHA256:" in found["seen"]
    assert "the connection may be intercepted" in found["todo"]


def test_no_packet_filter(ward: Ward, tmp_path: Path) -> None:
    """Bad for a scenario that cuts, and for whoever asks in general; of no account for one that does not."""
    scenario = tmp_path / "scenario.yaml"
    with ward.spoilt("node1", *NO_FILTER):
        found = ward.one("node1", "packet filter")
        scenario.write_text(SCENARIO + "  - {at: 1s, kill_broker: {target: broker 0}, for: 5s}\n", "utf-8")
        assert ward.doctor(str(scenario))[0] == 0
        cut = "  - {at: 1s, cut_network: {between: [broker 0, broker 1]}, for: 5s}\n"
        scenario.write_text(SCENARIO + cut, "utf-8")
        ward.one("node1", "packet filter", str(scenario))
        refused = ward.chaosk("run", str(scenario), "--output", str(tmp_path / "reports"))
    assert "nft or iptables does not work here" in found["seen"]
    assert "install on Debian: nftables" in found["todo"]
    assert refused.returncode == 69
    assert "the run cannot start:\n  node1: packet filter: nft or iptables does not work here" in refused.stderr
    assert not (tmp_path / "reports").exists()


def test_iptables_alone_is_worth_a_word(ward: Ward) -> None:
    """Without nft a cut outlives the host's own timer: a warning, and a run starts all the same."""
    with ward.spoilt("node1", "mv /usr/sbin/nft /tmp", "mv /tmp/nft /usr/sbin"):
        found = ward.one("node1", "packet filter")
    assert (found["state"], found["seen"]) == ("warning", "iptables (nf_tables)")
    assert "nftables" in found["todo"]


def test_a_program_that_every_run_needs(ward: Ward) -> None:
    """Its name and its package."""
    with ward.spoilt("node3", "mv /usr/bin/flock /tmp", "mv /tmp/flock /usr/bin"):
        found = ward.one("node3", "tools")
    assert (found["seen"], found["todo"]) == ("there is no flock", "install on Debian: util-linux")


def test_a_full_disk_where_leases_are_kept(ward: Ward) -> None:
    """How much there is and how much it takes; a lease cannot be kept there."""
    spoil = (
        "mkdir -p /var/lib/chaosk; mount -t tmpfs -o size=64k tmpfs /var/lib/chaosk; "
        "dd if=/dev/zero of=/var/lib/chaosk/full bs=4k 2>/dev/null || true"
    )
    with ward.spoilt("node2", spoil, "umount /var/lib/chaosk"):
        found = ward.one("node2", "room for leases")
    assert found["seen"] == "/var/lib/chaosk has 0 KiB free"
    assert "free at least 1024 KiB there" in found["todo"]


def test_a_shell_that_is_slow_to_start(ward: Ward) -> None:
    """A sleep in the login shell's start-up file: a warning with the time it takes, and where to look."""
    with ward.spoilt("node1", "sed -i '1i sleep 0.7' /home/ops/.bashrc", "sed -i 1d /home/ops/.bashrc"):
        found = ward.one("node1", "shell")
    assert found["state"] == "warning"
    assert float(found["seen"].split()[2]) > 0.7
    assert "~/.bashrc" in found["todo"]


def test_what_a_former_run_has_left(ward: Ward) -> None:
    """Whose, which and in what state; the command that it names puts it right."""
    about = '{"run": "dead-run", "entry": "cut", "step": "cut_network", "targets": "x", "by": "me@here"}'
    left = Lease(id="dead-run.cut", run="dead-run", host="node2", about=about, undo="true\n", check="true\n")
    assert ward.send(lease.arm(left, 600.0)).ok
    found = ward.one("node2", "leftovers")
    assert "a former run left faults on the hosts: cut of dead-run (heals itself in " in found["seen"]
    assert found["todo"] == "do: chaosk heal --inventory FILE"
    assert ward.chaosk("heal").returncode == 0
    ward.fit()


def test_another_run_that_holds_the_cluster(ward: Ward) -> None:
    """Who has it; its own faults are no leftovers, because they are under way."""
    about = '{"run": "other", "entry": "cut", "step": "cut_network", "targets": "x", "by": "me@here"}'
    running = Lease(id="other.cut", run="other", host="node1", about=about, undo="true\n", check="true\n")
    assert ward.send(lock.take("node1", "other", "me@here", 120.0)).ok
    assert ward.send(lease.arm(running, 600.0)).ok
    found = ward.one("cluster", "lock")
    assert found["seen"] == "held by the run other of me@here (on node1)"
    assert "chaosk halt" in found["todo"]
    assert ward.send(lease.disarm("node1", "other.cut")).ok
    assert ward.send(lock.leave("node1", "other")).ok
    ward.fit()


STUTTER = """
setsid sh -c 'pid=$(cat /run/kafka/kafka.pid); end=$(($(date +%s) + 120))
while [ ! -e /tmp/fluent ] && [ "$(date +%s)" -lt "$end" ]
do kill -STOP "$pid"; sleep 3.5; kill -CONT "$pid"; sleep 0.3; done
kill -CONT "$pid"; rm -f /tmp/fluent; touch /tmp/over' </dev/null >/dev/null 2>&1 &
"""
FLUENT = "touch /tmp/fluent; until [ -e /tmp/over ]; do sleep 0.1; done; rm -f /tmp/over"


def test_a_broker_that_is_slow_is_not_dead(ward: Ward) -> None:
    """One that stands still for some seconds at a time, as long collections of garbage do, is fit to begin with.

    Thrice, because by chance a question may fall between.
    """
    ward.sh("node2", STUTTER)
    try:
        findings = [one for _ in range(3) for one in ward.doctor()[1]]
    finally:
        ward.sh("node2", FLUENT)
    assert [one for one in findings if one["state"] == "bad"] == []
    ward.fit()


def advertise(ward: Ward, broker: int, value: str | None) -> None:
    """Let a broker advertise something else, or with None what its file says."""
    kind = IncrementalAlterConfigsRequest.AlterConfigsResource
    change = kind.AlterableConfig(
        name="advertised.listeners", config_operation=0 if value is not None else 1, value=value
    )
    asked = kind(resource_type=4, resource_name=str(broker), configs=[change])

    def work() -> int:
        with Brokers(ward.inventory, client_settings(ward.inventory)) as brokers:
            request = IncrementalAlterConfigsRequest(resources=[asked], validate_only=False, version=1)
            answer = brokers.ask(broker, request, within=20.0)
            return int(answer.responses[0].error_code)

    assert ward.within(work) == 0


def test_an_advertised_listener_that_does_not_resolve(ward: Ward) -> None:
    """The broker, the listener, the address that it gives to clients, and what to correct (experiment C10)."""
    at = ward.inventory.brokers[1].listeners["REPLICATION"]
    advertise(ward, 1, f"CLIENT://kafka-1.invalid:9092,REPLICATION://{at.address}:{at.port}")
    try:
        found = ward.one("broker 1", "listener CLIENT")
    finally:
        advertise(ward, 1, None)
    assert found["state"] == "bad"
    assert "advertises kafka-1.invalid:9092, and that leads nowhere from here: " in found["seen"]
    assert "this machine cannot resolve the name kafka-1.invalid" in found["seen"]
    assert "correct its advertised.listeners" in found["todo"]
    ward.fit()


def until_told(ward: Ward, *said: str) -> list[dict[str, Any]]:
    """What the doctor finds once the cluster has noticed, and it says so, that one of its brokers is dead."""
    end = time.monotonic() + 90
    while time.monotonic() < end:
        _, findings = ward.doctor()
        told = " ".join(one["seen"] for one in findings if one["state"] == "bad")
        if all(each in told for each in said):
            return findings
    pytest.fail(f"never told: {said}")


def test_an_isr_that_is_not_full(ward: Ward) -> None:
    """With a broker dead: which broker, which partitions, and that a fault on top would prove nothing."""

    def make() -> None:
        with Brokers(ward.inventory, client_settings(ward.inventory)) as brokers:
            prepare(brokers, {"orders": Topic(partitions=2, replication_factor=3)})

    def unmake() -> None:
        with Brokers(ward.inventory, client_settings(ward.inventory)) as brokers:
            delete_topics(brokers, {"orders": brokers.views(None)[0].topic_ids["orders"]})

    ward.within(make)
    ward.sh("node3", 'kill -KILL "$(cat /run/kafka/kafka.pid)"')
    try:
        findings = until_told(ward, "orders-0: replicas on 2", "orders-1: replicas on 2", "does not answer")
    finally:
        start = "/opt/kafka/bin/kafka-start && sleep 3 && kill -0 $(cat /run/kafka/kafka.pid)"
        ward.sh("node3", f"until {start}; do :; done")
        ward.fit()
        ward.within(unmake)
    seen = {(one["where"], one["what"]): one for one in findings if one["state"] == "bad"}
    told = seen["cluster", "partitions"]
    assert "orders-0: replicas on 2 are not in sync; orders-1: replicas on 2 are not in sync" in told["seen"]
    assert "a fault on top would prove nothing" in told["todo"]
    assert "broker 2 does not answer" in str([one["seen"] for one in findings if one["what"] == "health"])
    assert seen["broker 2", "listener CLIENT"]["seen"].startswith("does not answer at the address in the inventory")


def test_a_host_that_is_away(ward: Ward, tmp_path: Path) -> None:
    """An address where nobody answers: said once, with what to check, and the others are examined all the same."""
    path = ward.copy(
        tmp_path / "away.yaml", **{"    address: 198.18.0.13\n    key_file": "    address: 198.18.0.99\n    key_file"}
    )
    code, findings = ward.doctor(inventory=path)
    (away,) = [one for one in findings if one["where"] == "node3"]
    assert code == 69
    assert (away["what"], away["state"]) == ("login", "bad")
    assert "cannot be reached at 198.18.0.99 port 22" in away["seen"]
    assert away["todo"].startswith("check hosts.*.address and port")
    assert {one["where"] for one in findings} >= {"node1", "node2"}


def test_bad_usage_is_told(ward: Ward) -> None:
    """An inventory is needed, and must be there."""
    none = subprocess.run(
        [sys.executable, "-m", "chaosk", "doctor"], capture_output=True, text=True, timeout=60, check=False
    )
    assert none.returncode == 64
    assert "--inventory" in none.stderr
    missing = ward.chaosk("doctor", inventory=Path("/nowhere/at-all.yaml"))
    assert missing.returncode == 64
    assert "/nowhere/at-all.yaml" in missing.stderr
