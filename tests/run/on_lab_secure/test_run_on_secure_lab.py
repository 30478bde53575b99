"""A run on a cluster that wants TLS and a password of its clients, and tells them brokers by name.

Probes, watcher, audit and doctor all come in, and hosts cut off who is known to them by a name.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from on_lab import inside, until

from chaosk import lab
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.endpoints import broker_places
from chaosk.cluster.views import metadata_request
from chaosk.cluster.wire import BrokerConnection, NoAnswer
from chaosk.document import load_inventory
from chaosk.lab import certificates
from chaosk.lab.broker import LISTENER_FILE
from chaosk.lab.namespace_hosts import NamespaceHosts
from chaosk.lab.state import of
from chaosk.spec.inventory import Inventory

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600), pytest.mark.long]
LAB = "run-secure"

SCENARIO = """\
name: Kill a leader that wants passwords
hypothesis: Clients find the next one, log in there, and nothing acknowledged is lost.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
  copies: {partitions: 1, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 50/s, config: {acks: all, enable.idempotence: true}}}
  reader: {consume: {topic: orders, group: readers, commit: sync}}
  copier: {transform: {topic: orders, to: copies, group: copiers}}
  healthy: {health_check: {rate: 2/s, exchange: api_versions}}
baseline: 2s
timeline:
  - {name: kill, at: 1s, kill_broker: {target: "leader(orders, 0)"}, for: 5s}
  - {name: cut, at: 12s, cut_network: {between: ["listener(CLIENT, broker 1)", probes]}, for: 2s}
settle: 3s
"""


def read_inventory(path: Path) -> Inventory:
    """The inventory in a file."""
    found = load_inventory(path)
    assert isinstance(found, Inventory)
    return found


def test_a_leader_is_killed(start: Callable[..., Any], lab_inventory: Path) -> None:
    """All of chaosk comes in again after it: no finding, every broker watched and healthy, the password nowhere.

    So it does after a cut of one listener, whose name the host itself has to look up.
    """
    run = start(SCENARIO)
    code = run.finish()
    verdict = run.read("verdict.json")
    assert not [one for one in verdict["findings"] if one["severity"] == "violation"], run.text
    assert code in {0, 2}, run.text  # 2 where the machine stood still
    events = run.rundir() / "events"
    assert {one["name"]: (one["took"], one["undone"]) for one in verdict["faults"]} == {
        "kill": (True, True),
        "cut": (True, True),
    }
    watched = pq.read_table(events / "brokers.parquet").to_pylist()
    assert {row["asked"] for row in watched if row["error"] is None} == {0, 1, 2}
    checks = pq.read_table(events / "health_checks.parquet").to_pylist()
    assert {row["broker"] for row in checks if row["outcome"] == "ok" and row["answered"] is not None} == {0, 1, 2}
    secret = lab_inventory.with_name("client_password").read_bytes().strip()
    assert len(secret) > 20
    assert not [file for file in run.rundir().rglob("*") if file.is_file() and secret in file.read_bytes()]
    assert secret.decode() not in run.text


NAMELESS = """\
name: No names for a while
hypothesis: Who starts without names gets nowhere, and works once there are some.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 50/s, config: {acks: all}}}
  reader: {consume: {topic: orders, group: readers, commit: sync, config: {reconnect.backoff.max.ms: 500}}}
baseline: 2s
timeline:
  - {name: gone, at: 1s, stop_probe: {probe: reader}, for: 3s}
  - {name: nameless, at: 2s, revoke_dns: {how: HOW}, for: 15s}
settle: 3s
"""


@pytest.mark.parametrize("how", ["refused", pytest.param("silent", marks=pytest.mark.long)])
def test_names_are_taken_away(start: Callable[..., Any], how: str) -> None:
    """A probe that starts meanwhile gets no record before the names are back, one that is connected goes on writing."""
    run = start(NAMELESS.replace("HOW", how))
    run.finish()
    verdict = run.read("verdict.json")
    assert not [one for one in verdict["findings"] if one["severity"] == "violation"], run.text
    (fault,) = [one for one in verdict["faults"] if one["name"] == "nameless"]
    assert (fault["took"], fault["undone"]) == (True, True), run.text
    events = run.rundir() / "events"
    reads = pq.read_table(events / "reads.parquet").to_pylist()
    processes = pq.read_table(events / "incarnations.parquet").to_pylist()
    (began,) = [row["started"] for row in processes if (row["probe"], row["incarnation"]) == ("reader", 1)]
    assert fault["applied"] < began < fault["heal_invoked"]
    assert (
        min(row["at"] for row in reads if (row["probe"], row["incarnation"]) == ("reader", 1)) > fault["heal_invoked"]
    )
    sends = pq.read_table(events / "sends.parquet").to_pylist()
    written = [row for row in sends if fault["applied"] < (row["completed"] or 0) < fault["heal_invoked"]]
    assert len([row for row in written if row["outcome"] == "ok"]) > 100


MOVED = """\
name: A broker moves
hypothesis: Clients find it where its name leads, and back.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 50/s, config: {acks: all}}}
  reader: {consume: {topic: orders, group: readers, commit: sync}}
baseline: 2s
timeline:
  - {name: kill, at: 1s, kill_broker: {target: broker 0}, for: 8s}
  - {name: moved, at: 1s, change_address: {target: broker 0, address: 198.18.0.99}, for: LASTS}
  - name: home
    after: {entry: kill, is: healed}
    when: isr_full(orders)
    elect_leader: {topic: orders, election: preferred}
settle: 3s
"""


def talked_to() -> set[str]:
    """The addresses of node1 at which this machine is connected to its broker."""
    words = ["sh", "-c", "ss -H -t -n state established '( sport = :9092 )'"]
    links = [line.split()[2:4] for line in NamespaceHosts(of(LAB)).on_host("node1", words).splitlines()]
    return {own.rpartition(":")[0].strip("[]").removeprefix("::ffff:") for own, peer in links if "198.18.0.1]" in peer}


def moved_to() -> str:
    """Of node1 the address that it was given and what refuses its others, as far as they are there."""
    words = ["sh", "-c", "ip -o addr | grep -F 198.18.0.99; nft list tables; iptables-save | grep -F 198.18.0.99; true"]
    return NamespaceHosts(of(LAB)).on_host("node1", words).strip()


def test_a_broker_comes_back_under_another_address(start: Callable[..., Any]) -> None:
    """Probes and watcher are connected there and nowhere else, though its certificate is for the name; then back.

    It leads again under its new address, and clients write to it there.
    """
    before = moved_to()
    run = start(MOVED.replace("LASTS", "50s"))
    run.wait_for("home: verified")
    until(lambda: talked_to() == {"198.18.0.99"}, 15.0)
    code = run.finish()
    verdict = run.read("verdict.json")
    assert not [one for one in verdict["findings"] if one["severity"] == "violation"], run.text
    assert code in {0, 2}, run.text  # 2 where the machine stood still
    faults = {one["name"]: one for one in verdict["faults"]}
    assert all(one["took"] for one in faults.values()), run.text
    assert faults["moved"]["undone"]
    assert moved_to() == before
    events, home, back = run.rundir() / "events", faults["home"]["applied"], faults["moved"]["heal_invoked"]
    watched = pq.read_table(events / "brokers.parquet").to_pylist()
    assert [row for row in watched if row["asked"] == 0 and row["error"] is None and home < row["completed"] < back]
    states = pq.read_table(events / "partitions.parquet").to_pylist()
    led = {row["partition"] for row in states if row["topic"] == "orders" and row["leader"] == 0 and row["at"] > home}
    sends = pq.read_table(events / "sends.parquet").to_pylist()
    assert [
        row for row in sends
        if row["outcome"] == "ok" and row["partition"] in led and home + 2e9 < row["completed"] < back
    ]  # fmt: skip


def test_a_host_gives_the_address_back_when_chaosk_is_killed(start: Callable[..., Any], lab_inventory: Path) -> None:
    """SIGKILL while its broker is elsewhere: within its lease and some seconds it has what it had, and starts it."""
    before = moved_to()
    path = lab_inventory.with_name("short-leases.yaml")
    path.write_text(f"{lab_inventory.read_text('utf-8')}\nlongest_lease: 6s\n", "utf-8")
    run = start(MOVED.replace("LASTS", "50s"), "--inventory", str(path))
    run.wait_for("moved: verified")
    assert moved_to() != before
    run.process.kill()
    run.process.wait()
    until(lambda: moved_to() == before, 10.0)
    until(lambda: lab.status(LAB).healthy, 60.0)
    halt = [sys.executable, "-m", "chaosk", "halt", "--inventory", str(path)]  # it still has the cluster's lock
    subprocess.run(halt, capture_output=True, timeout=120, check=True)
    path.unlink()


def test_an_address_that_somebody_has(start: Callable[..., Any]) -> None:
    """Another host's, and one of another network: refused before anything is done, with what is wrong."""
    for address, why in (
        ("198.18.0.12", "somebody has 198.18.0.12"),
        ("203.0.113.9", "no network that 203.0.113.9 is in"),
    ):
        said = refused(start(MOVED.replace("198.18.0.99", address).replace("LASTS", "5s")))
        assert why in said


def altered(lab_inventory: Path, folder: Path, **client: object) -> Path:
    """A copy of the inventory elsewhere, with other client settings."""
    found = yaml.safe_load(lab_inventory.read_text("utf-8"))
    home = lab_inventory.parent
    for host in found["hosts"].values():
        host |= {name: str(home / host[name]) for name in ("key_file", "known_hosts")}
    found["client"] |= {
        "ssl.ca.location": str(home / "ca.pem"), "sasl.password": {"file": str(home / "client_password")},
        **{name.replace("_", "."): value for name, value in client.items()},
    }  # fmt: skip
    found["probe_client"]["sasl.password"] = {"file": str(home / found["probe_client"]["sasl.password"]["file"])}
    path = folder / "inventory.yaml"
    path.write_text(yaml.safe_dump(found), "utf-8")
    return path


def refused(run: Any) -> str:
    """What a run said that ended in preflight, as one line."""
    assert run.finish() == 69, run.text
    return " ".join(run.text.split())


def test_a_wrong_authority(start: Callable[..., Any], lab_inventory: Path, tmp_path: Path) -> None:
    """A certificate that another authority signed is not trusted: every broker and its listener are named."""
    other = tmp_path / "other.pem"
    other.write_text(certificates.authority("chaosk lab").certificate)
    said = refused(start(SCENARIO, "--inventory", str(altered(lab_inventory, tmp_path, ssl_ca_location=str(other)))))
    for broker in range(3):
        where = f"broker {broker}, listener CLIENT (node{broker + 1}.run-secure.test:9092)"
        assert f"{where}: its certificate is not accepted" in said
    assert "ssl.ca.location" in said


def test_a_wrong_password(start: Callable[..., Any], lab_inventory: Path, tmp_path: Path) -> None:
    """Whose login is refused, where, and what to look at; the password that was tried is not told."""
    (tmp_path / "password").write_text("swordfish-4711\n")
    wrong = altered(lab_inventory, tmp_path, sasl_password={"file": str(tmp_path / "password")})
    said = refused(start(SCENARIO, "--inventory", str(wrong)))
    for broker in range(3):
        where = f"broker {broker}, listener CLIENT (node{broker + 1}.run-secure.test:9092)"
        assert f"{where}: refuses the login of 'chaosk' by SCRAM-SHA-512" in said
    assert "sasl.username and sasl.password" in said
    assert "swordfish" not in said


def test_no_tls_where_it_is_wanted(start: Callable[..., Any], lab_inventory: Path, tmp_path: Path) -> None:
    """An inventory that forgot how clients come in: each listener closes the connection, and the way out is named."""
    plain = altered(lab_inventory, tmp_path)
    found = yaml.safe_load(plain.read_text("utf-8"))
    plain.write_text(yaml.safe_dump({name: value for name, value in found.items() if name != "client"}), "utf-8")
    said = refused(start(SCENARIO, "--inventory", str(plain)))
    assert "the TLS and login settings in client:" in said


@pytest.fixture
def expired(lab_inventory: Path) -> Iterator[None]:
    """Broker 1 has a certificate that was good until yesterday; afterwards it has its own again."""
    hosts, home = NamespaceHosts(of(LAB)), lab_inventory.parent
    by = certificates.Pair((home / "ca.pem").read_text(), (home / "ca_key").read_text())
    old = certificates.issue(by, "node2.run-secure.test", until=datetime.now(UTC) - timedelta(days=1))
    own = hosts.on_host("node2", ["cat", LISTENER_FILE])
    carried(hosts, lab_inventory, old.key + old.certificate, "has expired")
    try:
        yield
    finally:
        carried(hosts, lab_inventory, own, None)
        assert lab.status(LAB).healthy


def carried(hosts: NamespaceHosts, lab_inventory: Path, pem: str, complaint: str | None) -> None:
    """Give broker 1 a certificate, start it anew, and wait until who asks it gets that complaint, or an answer."""
    hosts.on_host("node2", ["sh", "-c", 'printf %s "$1" >"$2"', "sh", pem, LISTENER_FILE])
    found = read_inventory(lab_inventory)
    place = broker_places(found, client_settings(found))[1]

    def there() -> bool:
        try:
            with BrokerConnection(place) as link:
                link.ask(metadata_request(()))
        except NoAnswer as error:
            if "refused" in str(error):  # it closes its listener some seconds before it is gone, and can start again
                hosts.on_host("node2", ["/opt/kafka/bin/kafka-start"])
            return complaint is not None and complaint in str(error)
        return complaint is None

    hosts.on_host("node2", ["sh", "-c", "pid=$(cat /run/kafka/kafka.pid); kill -9 $pid"])
    with inside(of(LAB).namespace):
        until(there, 60.0)
    until(lambda: lab.status(LAB).healthy, 60.0)


@pytest.mark.usefixtures("expired")
def test_an_expired_certificate(start: Callable[..., Any]) -> None:
    """One broker's alone: that one and its listener are named, and what to renew."""
    said = refused(start(SCENARIO))
    where = "broker 1: listener CLIENT: does not answer at the address in the inventory: "
    assert f"{where}its certificate is not accepted: certificate has expired; renew the certificate of" in said
    assert "broker 0" not in said
