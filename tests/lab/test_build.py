"""Putting labs up, for real: hosts, SSH, services, repair."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from confluent_kafka.admin import AdminClient, ConfigResource  # type: ignore[attr-defined] # its stub forgot to export it
from confluent_kafka.cimpl import NewTopic

from chaosk import lab
from chaosk.core.errors import LabError
from chaosk.lab import build, launchers, namespace, state
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

pytestmark = [pytest.mark.lab, pytest.mark.long]

Ssh = Callable[..., "subprocess.CompletedProcess[str]"]
OnHost = Callable[..., str]


def eventually(question: Callable[[], object], seconds: float = 20) -> None:
    """Wait until ``question`` is answered with yes."""
    deadline = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)


def make_topic(name: str) -> None:
    """A topic of one partition, made by a client that is kept until it is there."""
    client = AdminClient({"bootstrap.servers": "198.18.0.11:9092"})
    client.create_topics([NewTopic(name, 1, 1)])[name].result(20)


def test_inventory_loads(small: LabLayout) -> None:
    """The inventory a lab writes is read back, typed and strict, and its files are where it says."""
    path = state.of(small.name).inventory
    found = Inventory.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert (found.name, found.network_namespace) == (small.name, f"chaosk-{small.name}")
    for host in found.hosts.values():
        assert host.key_file
        assert host.known_hosts
        assert (path.parent / host.key_file).stat().st_mode & 0o777 == 0o600
        assert (path.parent / host.known_hosts).exists()


def test_ops_has_sudo_and_root_does_not_come_in(ssh: Ssh) -> None:
    """SSH lets ops in with its key and sudo needs no password; root is refused with the same key."""
    done = ssh("id -un; sudo -n id -un")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ops\nroot\n", "")
    refused = ssh("true", user="root")
    assert refused.returncode == 255
    assert "Permission denied" in refused.stderr


def test_a_wrong_host_key_is_refused(ssh: Ssh, whole: LabLayout, tmp_path: Path) -> None:
    """Strict known hosts: with another key on file for the host, nothing connects."""
    other = tmp_path / "known_hosts"
    line = (state.of(whole.name).directory / "known_hosts").read_text(encoding="ascii").split()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")], check=True)
    key = (tmp_path / "key.pub").read_text(encoding="ascii").split()[1]
    other.write_text(f"{line[0]} ssh-ed25519 {key}\n", encoding="ascii")
    done = ssh("true", "-o", f"UserKnownHostsFile={other}")
    assert done.returncode == 255
    assert "Host key verification failed" in done.stderr


def test_there_is_no_way_out(ssh: Ssh, whole: LabLayout) -> None:
    """Neither a host nor the network around it has a default route, and nothing outside the lab's net is reached."""
    name = state.of(whole.name).namespace
    for family in ("-4", "-6"):
        assert ssh(f"ip {family} route show default").stdout == ""
        shown = subprocess.run(["ip", "-n", name, family, "route", "show", "default"], capture_output=True, check=True)
        assert shown.stdout == b""
    assert "Network is unreachable" in ssh("ip route get 192.0.2.1 2>&1").stdout


def test_hosts_are_their_own(ssh: Ssh, on_host: OnHost, whole: LabLayout) -> None:
    """iptables, processes, files and hostname of a host are not those of the machine, nor of its lab's network."""
    on_host("iptables", "-A", "INPUT", "-p", "tcp", "--dport", "4711", "-j", "DROP")
    try:
        assert "--dport 4711 -j DROP" in ssh("sudo -n iptables -S").stdout
        assert b"4711" not in subprocess.run(["iptables", "-S"], capture_output=True, check=True).stdout
        around = ["ip", "netns", "exec", state.of(whole.name).namespace, "iptables", "-S"]
        assert b"4711" not in subprocess.run(around, capture_output=True, check=True).stdout
    finally:
        on_host("iptables", "-D", "INPUT", "-p", "tcp", "--dport", "4711", "-j", "DROP")
    assert ssh("hostname").stdout == "node1\n"
    assert "init.py host" in ssh("ps -o args= -p 1").stdout
    assert ssh("sudo -n touch /etc/only-here /opt/only-here && ls /etc/only-here").returncode == 0
    assert not Path("/etc/only-here").exists()
    assert not Path("/opt/only-here").exists()


@pytest.mark.parametrize(
    "attempt",
    [
        "sudo -n date -s '2020-01-01'",
        "echo 1 | sudo -n tee /proc/sys/vm/drop_caches",
        "sudo -n mknod /tmp/disk b 254 0",
    ],
)
def test_root_on_a_host_cannot_reach_the_machine(ssh: Ssh, attempt: str) -> None:
    """The clock, the kernel's settings and the disks of the machine are out of reach."""
    before = time.time()
    done = ssh(attempt)
    assert done.returncode != 0
    assert re.search("not permitted|Read-only|Permission denied", done.stdout + done.stderr)
    assert abs(time.time() - before) < 60


def test_keys_are_hidden_from_hosts(ssh: Ssh, own_state: Path) -> None:
    """A host sees no lab's state: its own client key would let it log in everywhere."""
    assert ssh(f"sudo -n ls {own_state}").stdout == ""


def test_a_full_disk_is_real(ssh: Ssh) -> None:
    """A host's disk has a size of its own, and ENOSPC is the kernel's."""
    try:
        done = ssh("sudo -n dd if=/dev/zero of=/var/lib/kafka/fill bs=1M count=3000 2>&1")
        assert "No space left on device" in done.stdout
    finally:
        ssh("sudo -n rm -f /var/lib/kafka/fill")


def test_a_data_directory_fills_up_alone(ssh: Ssh) -> None:
    """Of several, each is a file system of its own: ENOSPC in one leaves room in the other and on the host."""
    assert ssh("stat -c %U /var/lib/kafka/disk1 /var/lib/kafka/disk2").stdout == "kafka\nkafka\n"
    try:
        done = ssh("sudo -n dd if=/dev/zero of=/var/lib/kafka/disk2/fill bs=1M count=3000 2>&1")
        assert "No space left on device" in done.stdout
        assert ssh("sudo -n dd if=/dev/zero of=/var/lib/kafka/disk1/fill bs=1M count=10 2>&1").returncode == 0
        assert ssh("sudo -n dd if=/dev/zero of=/var/lib/fill bs=1M count=10 2>&1").returncode == 0
    finally:
        ssh("sudo -n rm -f /var/lib/kafka/disk1/fill /var/lib/kafka/disk2/fill /var/lib/fill")


def test_a_broker_has_what_the_layout_gives_to_it(whole: LabLayout) -> None:
    """Its rack, its own settings over those of all, and both of its data directories, as the broker itself says."""
    resource = ConfigResource(ConfigResource.Type.BROKER, "0")

    def asked() -> tuple[str, dict[str, str]]:
        client = AdminClient({"bootstrap.servers": "198.18.0.11:9092"})
        found = client.describe_configs([resource])[resource].result(20)
        (node,) = client.describe_cluster(request_timeout=20).result(20).nodes
        names = ("num.io.threads", "log.dirs")
        return node.rack, {name: found[name].value for name in names}

    rack, settings = namespace.inside(state.of(whole.name).namespace, asked)
    assert rack == "attic"
    assert settings == {"num.io.threads": "2", "log.dirs": "/var/lib/kafka/disk1,/var/lib/kafka/disk2"}


def test_services_outlive_the_session_that_started_them(ssh: Ssh) -> None:
    """C11: a broker started over SSH lives on when the session and its connection have ended."""
    assert ssh("/opt/kafka/bin/kafka-stop").returncode == 0
    eventually(lambda: ssh("cat /proc/$(cat /run/kafka/kafka.pid)/stat").returncode != 0)
    done = ssh("/opt/kafka/bin/kafka-start")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    pid = ssh("cat /run/kafka/kafka.pid").stdout.strip()
    sessions = ssh(f"ps -o ppid=,user= -p {pid}; readlink /proc/{pid}/fd/0 || sudo -n readlink /proc/{pid}/fd/0").stdout
    assert sessions.split() == ["1", "kafka", "/dev/null"]


def test_starting_twice_is_starting_once(ssh: Ssh) -> None:
    """The start script leaves a running broker alone, also when several call it at once."""
    before = ssh("cat /run/kafka/kafka.pid").stdout
    ssh("/opt/kafka/bin/kafka-start & /opt/kafka/bin/kafka-start & /opt/kafka/bin/zookeeper-start & wait")
    assert ssh("cat /run/kafka/kafka.pid").stdout == before
    assert ssh("pgrep -fc '[k]afka\\.Kafka '").stdout == "1\n"


def test_an_orphan_is_reaped(ssh: Ssh) -> None:
    """Process 1 of a host buries what nobody waits for: a killed broker does not stay as a zombie."""
    pid = ssh("setsid sh -c 'sleep 0.3 >/dev/null 2>&1 & echo $!'").stdout.strip()
    assert pid
    eventually(lambda: ssh(f"test -e /proc/{pid}").returncode != 0)


def test_tools_work(ssh: Ssh, whole: LabLayout) -> None:
    """Kafka's own tools run on the host and speak to the broker; ZooKeeper's shell knows it."""
    server = "--bootstrap-server 198.18.0.11:9092"
    assert ssh(f"/opt/kafka/bin/kafka-topics.sh {server} --create --topic made --partitions 2").returncode == 0
    assert "made" in ssh(f"/opt/kafka/bin/kafka-topics.sh {server} --list").stdout
    assert "Leader: 0" in ssh(f"/opt/kafka/bin/kafka-topics.sh {server} --describe --topic made").stdout
    assert "[0]" in ssh("/opt/kafka/bin/zookeeper-shell.sh 127.0.0.1:2181 ls /brokers/ids").stdout
    found = namespace.inside(
        state.of(whole.name).namespace,
        lambda: AdminClient({"bootstrap.servers": "198.18.0.11:9092"}).list_topics(timeout=10).topics,
    )
    assert len(found["made"].partitions) == 2


def test_up_on_a_healthy_lab_changes_nothing(whole: LabLayout, on_host: OnHost) -> None:
    """It checks, in under two seconds (the best of three: others use this machine), and leaves every process alone."""
    before = on_host("cat", "/run/kafka/kafka.pid", "/run/kafka/zookeeper.pid")
    took = []
    for _ in range(3):
        started = time.monotonic()
        lab.up(whole, print)
        took.append(time.monotonic() - started)
    assert min(took) < 2
    assert on_host("cat", "/run/kafka/kafka.pid", "/run/kafka/zookeeper.pid") == before


def test_up_repairs_a_killed_broker(whole: LabLayout, on_host: OnHost) -> None:
    """A broker killed while its ZooKeeper session lives on is refused at first; ``up`` brings it back all the same."""
    on_host("sh", "-c", "kill -KILL $(cat /run/kafka/kafka.pid)")
    eventually(lambda: not lab.status(whole.name).healthy)
    lab.up(whole, print)
    assert lab.status(whole.name).healthy


def test_up_repairs_a_dead_ssh_server(whole: LabLayout, ssh: Ssh, on_host: OnHost) -> None:
    """A host without its SSH server gets it back, with the same key."""
    on_host("sh", "-c", "kill -KILL $(pgrep -of sshd)")
    assert ssh("true").returncode == 255
    lab.up(whole, print)
    assert ssh("true").returncode == 0


def test_up_repairs_a_dead_host_and_its_disk_is_still_there(whole: LabLayout, ssh: Ssh, on_host: OnHost) -> None:
    """When a host's process 1 is killed everything on it ends; started again, it has the disk it had."""
    topic = f"kept-{time.monotonic_ns()}"
    at = state.of(whole.name)
    namespace.inside(at.namespace, lambda: make_topic(topic))
    on_host("sh", "-c", "echo kept >/var/lib/kept; chown ops /var/lib/kept")
    keeper, host = (int(path.read_text(encoding="ascii")) for path in (at.keeper("pid"), at.host("node1") / "pid"))
    inside = ["nsenter", f"--target={keeper}", "--mount", "--pid", "kill", "-KILL", str(host)]
    subprocess.run(inside, check=True)
    eventually(lambda: not lab.status(whole.name).hosts[0].runs)
    lab.up(whole, print)
    assert lab.status(whole.name).healthy
    assert ssh("cat /var/lib/kept").stdout == "kept\n"
    assert topic in ssh("/opt/kafka/bin/kafka-topics.sh --bootstrap-server 198.18.0.11:9092 --list").stdout


def test_a_lab_of_another_shape_is_not_touched(whole: LabLayout) -> None:
    """``up`` with another layout under a name that is taken says so, and what to do."""
    with pytest.raises(LabError, match=rf"is up with another layout .*chaosk lab down --name {whole.name}"):
        lab.up(whole.model_copy(update={"brokers": 2}), print)
    assert lab.status(whole.name).healthy


def test_a_namespace_of_that_name_is_not_taken_over(own_state: Path) -> None:
    """A network namespace that somebody else made is left alone, with a message that names it; by ``down`` as well."""
    layout = LabLayout(name=f"{own_state.stat().st_ino % 1000}x".rjust(5, "t"), brokers=1, zookeepers=1)
    file = state.of(layout.name).namespace_file
    namespace.make(file)
    try:
        with pytest.raises(LabError, match=f"{file.name} exists and is not this lab's"):
            lab.up(layout, print)
        lab.down(layout.name, print)
        assert os.path.ismount(file)
        assert not state.of(layout.name).directory.exists()
    finally:
        namespace.remove(file)


def test_the_umask_of_whoever_puts_it_up_does_not_matter(own_state: Path) -> None:
    """Root's umask is 077 on many a server: the hosts' own users read and run what is made for them all the same."""
    layout = LabLayout(name=f"{own_state.stat().st_ino % 1000}z".rjust(5, "t"), brokers=1, zookeepers=1)
    before = os.umask(0o077)
    try:
        lab.up(layout, print)
        assert os.umask(0o077) == 0o077
        assert lab.status(layout.name).healthy
        assert state.of(layout.name).inventory.stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)
        lab.down(layout.name, print)


def test_a_service_that_cannot_start_says_why(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Java said before there was a log is in the message: here, that there is no such class."""
    monkeypatch.setattr(launchers, "ZOOKEEPER", "no.such.Main")
    monkeypatch.setattr(build, "_SERVICE_TIMEOUT", 5)
    layout = LabLayout(name=f"{own_state.stat().st_ino % 1000}y".rjust(5, "t"), brokers=1, zookeepers=1)
    with pytest.raises(
        LabError, match=r"zookeeper 1 does not answer within 5 s; .*\n.*find or load main class no.such"
    ):
        lab.up(layout, print)
    lab.down(layout.name, print)
