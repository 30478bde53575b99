"""What no cluster makes safe is refused where it is written, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_documents import written

from chaosk.document import DocumentError, load_scenario

HEAD = """\
name: x
hypothesis: y
topics: {orders: {partitions: 3}}
probes: {writer: {produce: {topic: orders}}, reader: {consume: {topic: orders, group: readers}}}
timeline:
"""
LINE = HEAD.count("\n") + 1


def problems(tmp_path: Path, timeline: str, head: str = HEAD) -> list[str]:
    """What is said against it, each with its line and path."""
    try:
        load_scenario(written(tmp_path, head + timeline))
    except DocumentError as error:
        return [f"{one.line}: {one.path}: {one.what}" for one in error.problems]
    return []


@pytest.mark.parametrize(
    ("step", "limits"),
    [
        ("kill_broker: {target: brokers}", "allow: {all_brokers: WHY}"),
        ("pause_broker: {target: brokers()}", "allow: {all_brokers: WHY}"),
        ("stop_zookeeper: {target: zookeepers}", "allow: {zookeeper_majority: WHY}"),
        ("cut_network: {between: [hosts, everyone else]}", "allow: {all_brokers: WHY, zookeeper_majority: WHY}"),
        ("cut_network: {between: [everyone else, [brokers]]}", "allow: {all_brokers: WHY}"),
    ],
)
def test_all_of_them_at_once_needs_a_reason(tmp_path: Path, step: str, limits: str) -> None:
    """The words say what to write; with it, and a reason, the file is right."""
    (found,) = problems(tmp_path, f"- {{at: 1s, {step}, for: 5s}}\n")
    assert found.startswith(f"{LINE}: timeline[0].")
    assert limits in found
    lifted = HEAD.replace("timeline:", limits.replace("WHY", "a test") + "\ntimeline:")
    assert problems(tmp_path, f"- {{at: 1s, {step}, for: 5s}}\n", lifted) == []


@pytest.mark.parametrize(
    "step",
    [
        "restart_broker: {target: brokers}",
        "restart_zookeeper: {target: zookeepers}",
        "kill_broker: {target: minority}",
        "cut_network: {between: [probes, brokers]}",
        "cut_network: {between: [brokers, zookeeper 1]}",
    ],
)
def test_what_leaves_enough_needs_none(tmp_path: Path, step: str) -> None:
    """One at a time, a minority, clients that are cut off."""
    lasts = "" if "restart" in step else ", for: 5s"
    assert problems(tmp_path, f"- {{at: 1s, {step}{lasts}}}\n") == []


def test_a_reason_is_not_empty(tmp_path: Path) -> None:
    """Nor is a limit that does not exist lifted."""
    (found,) = problems(
        tmp_path, "- wait: {duration: 1s}\n", HEAD.replace("timeline:", "allow: {all_brokers: ' '}\ntimeline:")
    )
    assert "allow.all_brokers" in found
    (found,) = problems(
        tmp_path, "- wait: {duration: 1s}\n", HEAD.replace("timeline:", "allow: {all_broker: x}\ntimeline:")
    )
    assert "did you mean 'all_brokers'?" in found


def test_the_ssh_port_is_refused(tmp_path: Path) -> None:
    """Alone or among others; the port next to it is not."""
    cut = "- {at: 1s, cut_network: {between: [broker 0, broker 1], ports: [9092, %d]}, for: 5s}\n"
    (found,) = problems(tmp_path, cut % 22)
    assert "port 22 is SSH, by which chaosk heals, and is never cut; remove it" in found
    assert "ports[1]" in found
    assert problems(tmp_path, cut % 2222) == []


@pytest.mark.parametrize("name", ["__consumer_offsets", "__transaction_state", "__cluster_metadata"])
def test_a_topic_of_kafkas_own_is_nobodys(tmp_path: Path, name: str) -> None:
    """A scenario's topics are made anew and written to: never those."""
    head = HEAD.replace("topics: {", f"topics: {{{name}: {{}}, ")
    (found,) = problems(tmp_path, "- wait: {duration: 1s}\n", head)
    assert f"topics.{name}" in found
    assert "Kafka's own" in found


@pytest.mark.parametrize(
    "probe",
    [
        "produce: {topic: __consumer_offsets}",
        "produce: {topic: payments}",
        "transform: {topic: orders, to: payments, group: g}",
        "consume: {topic: orders, group: g, failing: {every: 2, handling: dead_letter, topic: payments}}",
        "consume: {topic: orders, group: g, assign: all, offsets: {topic: payments}}",
    ],
)
def test_probes_write_to_the_scenarios_topics_only(tmp_path: Path, probe: str) -> None:
    """A topic that is there already, or Kafka's own, cannot be named by a probe."""
    head = HEAD.replace("produce: {topic: orders}", probe)
    (found,) = problems(tmp_path, "- wait: {duration: 1s}\n", head)
    assert "there is no topic" in found


def test_an_unclean_election_loses_nobody_elses_records(tmp_path: Path) -> None:
    """On Kafka's own topics only a preferred one."""
    elect = "- elect_leader: {topic: %s, election: %s}\n"
    (found,) = problems(tmp_path, elect % ("__consumer_offsets", "unclean"))
    assert "timeline[0].elect_leader.topic: an unclean election can lose data of others" in found
    assert problems(tmp_path, elect % ("__consumer_offsets", "preferred")) == []
    assert problems(tmp_path, elect % ("orders", "unclean")) == []


KILL = "- {name: kill, at: 1s, kill_broker: {target: broker 1}, for: 10s}\n"


@pytest.mark.parametrize(
    "second",
    [
        "at: 5s, pause_broker: {target: broker(1)}, for: 1s",
        "at: 0s, stop_broker: {target: broker 1}, for: 2s",
        "at: 10500ms, restart_broker: {target: brokers}",
        "after: {entry: kill, is: applied, delay: 3s}, pause_broker: {target: broker 1}, for: 1s",
    ],
)
def test_two_hands_on_one_process(tmp_path: Path, second: str) -> None:
    """Pause and kill of the same broker at the same time: the second one is refused, by its line."""
    (found,) = problems(tmp_path, f"{KILL}- {{name: two, {second}}}\n")
    assert found.startswith(f"{LINE + 1}: timeline[1].")
    assert "kill still affects broker(1) at that time" in found or "kill still affects brokers at that time" in found


@pytest.mark.parametrize(
    "second",
    [
        "at: 11s, pause_broker: {target: broker 1}, for: 1s",
        "at: 5s, pause_broker: {target: broker 2}, for: 1s",
        "at: 5s, start_broker: {target: broker 1}",
        "at: 5s, cut_network: {between: [broker 1, broker 2]}, for: 1s",
        "after: kill, pause_broker: {target: broker 1}, for: 1s",
        "at: 5s, when: broker_up(2), pause_broker: {target: broker 1}, for: 1s",
        'at: 5s, pause_broker: {target: "leader(orders, 0)"}, for: 1s',
    ],
)
def test_near_misses(tmp_path: Path, second: str) -> None:
    """After the first one, on another broker, its own end, another layer, or at a time or place nobody knows yet."""
    assert problems(tmp_path, f"{KILL}- {{name: two, {second}}}\n") == []


def test_two_cuts_of_one_pair(tmp_path: Path) -> None:
    """In either order of the groups, behind a symbolic spelling or not; other pairs are free."""
    cut = "- {name: %s, at: %ds, cut_network: {between: [%s]}, for: 5s}\n"
    one = cut % ("one", 1, "host(broker 1), everyone else")
    (found,) = problems(tmp_path, one + cut % ("two", 2, "everyone_else, host(broker(1))"))
    assert "one still affects everyone_else and host" in found
    assert problems(tmp_path, one + cut % ("two", 6, "everyone else, host(broker 1)")) == []
    assert problems(tmp_path, one + cut % ("two", 2, "everyone else, host(broker 2)")) == []


def test_one_probe_cannot_be_ended_twice(tmp_path: Path) -> None:
    """Killed while it is stopped."""
    stop = "- {name: stop, at: 1s, stop_probe: {probe: writer}, for: 5s}\n"
    (found,) = problems(tmp_path, stop + "- {at: 2s, kill_probe: {probe: writer}, for: 1s}\n")
    assert "stop still affects probe(writer) at that time" in found
    assert problems(tmp_path, stop + "- {at: 2s, kill_probe: {probe: reader}, for: 1s}\n") == []


@pytest.mark.parametrize(
    ("step", "what"),
    [
        (
            "create_partitions: {topic: orders, count: 3}",
            "create_partitions.count: orders has 3 already, and none can be taken away; write 4 or more",
        ),
        ("create_partitions: {topic: __consumer_offsets, count: 99}", "create_partitions.topic: all clients share it"),
        (
            "set_topic_config: {topic: __transaction_state, config: {retention.ms: 1}}",
            "set_topic_config.topic: all clients share it, so it may not be changed; name a topic of the scenario",
        ),
        ("recreate_topic: {topic: __consumer_offsets}", "recreate_topic.topic: all clients share it"),
        (
            "reassign_partitions: {topic: __consumer_offsets, replicas: [broker 0]}",
            "reassign_partitions.topic: all clients share it",
        ),
        ("cancel_reassignment: {topic: __transaction_state}", "cancel_reassignment.topic: all clients share it"),
        ("recreate_topic: {topic: payments}", "there is no topic 'payments'"),
        ("set_topic_config: {topic: payments, config: {retention.ms: 1}}", "there is no topic 'payments'"),
        ("deny_access: {topic: payments, operations: [write]}", "there is no topic 'payments'"),
        ("deny_access: {topic: __consumer_offsets, operations: [read]}", "deny_access.topic: all clients share it"),
        ("deny_access: {group: nobody, operations: [read]}", "there is no group 'nobody'"),
        ("deny_access: {transactional_id: t, operations: [write]}", "there is no transactional.id 't'"),
        ("set_quota: {probe: nobody, producer_byte_rate: 1B}", "there is no probe 'nobody'"),
    ],
)
def test_only_topics_and_probes_of_the_scenario_are_changed(tmp_path: Path, step: str, what: str) -> None:
    """Those of others, Kafka's own among them, stay as they are; no partition is taken away."""
    (found,) = problems(tmp_path, f"- {{at: 1s, {step}}}\n")
    assert what in found


def test_what_is_the_scenarios_own_is_changed(tmp_path: Path) -> None:
    """Near miss: one partition more, at which a fault can aim from then on; its own topic, its own probe."""
    own = "- {at: 1s, create_partitions: {topic: orders, count: 4}}\n"
    own += "- {set_topic_config: {topic: orders, config: {retention.ms: 1}}, for: 1s}\n"
    own += "- recreate_topic: {topic: orders}\n"
    own += "- {kill_broker: {target: 'leader(orders, 3)'}, for: 1s}\n"
    own += "- {set_quota: {probe: writer, producer_byte_rate: 1B}, for: 1s}\n"
    assert problems(tmp_path, own) == []
