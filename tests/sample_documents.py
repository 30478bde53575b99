"""Documents that several tests start from: right as they are, to be spoiled one mistake at a time."""

from __future__ import annotations

from pathlib import Path

SCENARIO = """\
name: Kill the leader
hypothesis: Nothing acknowledged is lost.
covers: [C2]
variables:
  hold: 30s
  count: 6
cluster:
  brokers: 3
topics:
  orders:
    partitions: ${count}
    replication_factor: 3
    config: {min.insync.replicas: 2}
probes:
  writer:
    produce: {topic: orders, rate: 500/s, config: {acks: all}}
  reader:
    consume: {topic: orders, group: readers, commit: sync}
baseline: 5s
timeline:
  - name: kill
    at: 10s
    kill_broker: {target: "leader(orders, 0)"}
    for: ${hold}
  - when: isr_full(orders)
    timeout: 60s
    elect_leader: {topic: orders, election: preferred}
  - name: cut
    after: {entry: kill, is: healed, delay: 2s}
    cut_network: {between: [broker 1, [broker 2, broker 0]]}
    for: 5s
  - repeat: 2
    entries:
      - name: again
        when: not(broker_up(9))
        pause_broker: {target: broker 1}
        for: 1s
      - after: {entry: again, is: healed}
        wait: {duration: 1s}
settle: 20s
expect:
  unavailability:
    writer: {min: 1s, max: 20s, during: kill}
  recovery: 30s
  lost_records: 0
  rate: [400/s, {min: 100/s, during: after_heal}]
"""

VARIED = (
    SCENARIO
    + """\
variants:
  short: {hold: 5s}
  wide: {count: 9, hold: 20s}
  plain: {}
"""
)

COMBINED = (
    SCENARIO
    + """\
matrix:
  hold: [5s, 9s]
  count: [6, 7]
"""
)

INVENTORY = """\
name: staging
hosts:
  node1: {address: 192.0.2.11, user: chaosk, key_file: keys/id, known_hosts: keys/known}
  node2: {address: 192.0.2.12, user: chaosk, key_file: keys/id, known_hosts: keys/known}
brokers:
  0:
    host: node1
    service: {systemd: kafka.service}
    listeners:
      CLIENT: {address: kafka1.example.com, port: 9092}
  1:
    host: node2
    service:
      start: [/opt/kafka/start]
      stop: [/opt/kafka/stop]
      pid_file: /run/kafka.pid
    listeners:
      CLIENT: {address: kafka2.example.com, port: 9092}
      INNER: {address: 192.0.2.12, port: 9093, clients: false}
zookeepers:
  1: {host: node1, service: {systemd: zookeeper.service}}
client:
  security.protocol: SASL_SSL
  sasl.mechanism: PLAIN
  sasl.password: {env: KAFKA_PASSWORD}
  ssl.ca.location: ca.pem
  ssl.key.password: {file: key_password}
"""


def spoil(document: str, old: str, new: str) -> str:
    """The document with one piece replaced, which must be in it exactly once."""
    assert document.count(old) == 1, f"{old!r} is {document.count(old)} times in the document"
    return document.replace(old, new)


def written(folder: Path, document: str | bytes, name: str = "file.yaml") -> Path:
    """A file with that content."""
    path = folder / name
    path.write_bytes(document if isinstance(document, bytes) else document.encode())
    return path
