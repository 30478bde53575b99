"""What holds a scenario together: that right scenarios are not complained about, and how several mistakes meet.

Each single mistake has its case in the corpus of malformed files; here are the near misses.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_documents import SCENARIO, spoil, written

from chaosk.document import DocumentError, load_scenario
from chaosk.document.draft import draft
from chaosk.document.nodes import Scalar, descend
from chaosk.document.parse import parse

RIGHT = {
    "Kafka's own topics as targets": ("leader(orders, 0)", "leader(__consumer_offsets, 3)"),
    "a topic in a nested target": ("leader(orders, 0)", "random(1, followers(orders, 5))"),
    "the last partition": ("leader(orders, 0)", "leader(orders, 5)"),
    "a group of a probe": ("leader(orders, 0)", "coordinator(readers)"),
    "a member named like its group": ("group: readers", "group: reader"),
    "a producer named like a group": ("group: readers", "group: writer"),
    "a probe in a condition": ("isr_full(orders)", "caught_up(reader, 10)"),
    "conditions in a condition": ("isr_full(orders)", "any(not(isr_full(orders)), caught_up(reader, 10))"),
    "after the last round": ("settle: 20s", "  - {after: again, wait: {duration: 1s}}\nsettle: 20s"),
    "after a round by its number": ("settle: 20s", "  - {after: wait-4.2-1, wait: {duration: 1s}}\nsettle: 20s"),
    "a bound during each round": ("during: kill", "during: again"),
    "a metric of one round": ("recovery: 30s", "recovery: {again-2: 30s}"),
    "after an entry by its default name": ("{entry: kill,", "{entry: elect_leader-2, is: applied} #"),
    "healed by an entry that has a duration": ("{entry: kill, is: healed", "{entry: kill, is: healed"),
    "a window after the heal": ("during: kill", "during: after_heal"),
    "a window of a default name": ("during: kill", "during: elect_leader-2"),
    "a metric of a group": ("recovery: 30s", "rebalances: {readers: 0}"),
    "a metric of a topic": ("recovery: 30s", "election: {orders: 10s}"),
    "a metric of an entry": ("recovery: 30s", "recovery: {kill: 30s}"),
    "errors of a probe": ("recovery: 30s", "errors: {writer: {must: [NOT_LEADER_FOR_PARTITION], may: [_TRANSPORT]}}"),
    "as many in-sync replicas as there are": ("min.insync.replicas: 2", "min.insync.replicas: 3"),
    "as many replicas as brokers": ("  brokers: 3", "  brokers: {min: 3, max: 3}"),
    "a word like a variable, escaped": ("hypothesis: Nothing", "hypothesis: $${hold} Nothing"),
    "partitions of an election": ("election: preferred", "election: preferred, partitions: [0, 5]"),
    "overlapping entries": ("after: {entry: kill, is: healed, delay: 2s}", "at: 11s"),
    "probes as a target": ("[broker 1, [broker 2, broker 0]]", "[probe writer, [host(controller)]]"),
    "the controller as a broker, which it may be": ("leader(orders, 0)", "random(1, controllers)"),
    "a setting that only looks like a secret": ("config: {acks: all}", "config: {acks: all, sasl.username: me}"),
}


@pytest.mark.parametrize(("old", "new"), RIGHT.values(), ids=RIGHT)
def test_what_is_right_is_not_complained_about(tmp_path: Path, old: str, new: str) -> None:
    """The near misses of the rules: no false alarm."""
    assert load_scenario(written(tmp_path, spoil(SCENARIO, old, new))).timeline


WRONG = {
    "a ZooKeeper node to kill as a broker": ("leader(orders, 0)", "zookeeper leader", "done to brokers"),
    "a set of them": ("leader(orders, 0)", "random(1, zookeepers)", "names ZooKeeper nodes"),
    "a broker to kill as a ZooKeeper node": (
        'kill_broker: {target: "leader(orders, 0)"}',
        "kill_zookeeper: {target: broker 1}",
        "write one like zookeeper leader",
    ),
    "replicas on what holds none": (
        "elect_leader: {topic: orders, election: preferred}",
        "reassign_partitions: {topic: orders, replicas: [broker 0, zookeeper 1]}",
        "'zookeeper 1' names ZooKeeper nodes",
    ),
    "a group that no probe has": ("leader(orders, 0)", "coordinator(writers)", "no group 'writers'"),
    "healed before an entry without duration is": (
        "    for: ${hold}",
        "    # ${hold}",
        "not healed before the timeline ends",
    ),
    "a negative partition": ("election: preferred", "election: preferred, partitions: [-1]", "at least 0"),
    "a partition beyond the topic": (
        "election: preferred",
        "election: preferred, partitions: [0, 6]",
        "no partition 6",
    ),
    "a fixed partition of a probe": ("rate: 500/s,", "rate: 500/s, partition: 6,", "no partition 6"),
    "a metric of another kind of subject": ("recovery: 30s", "recovery: {writer: 30s}", "no fault 'writer'"),
    "errors of no probe": ("recovery: 30s", "errors: {wirter: {may: [_STATE]}}", "did you mean 'writer'?"),
    "an error that librdkafka has not": (
        "recovery: 30s",
        "errors: {writer: {must: [_TRANSPORTS]}}",
        "did you mean '_TRANSPORT'?",
    ),
    "an error that can be none": (
        "recovery: 30s",
        "errors: {writer: {must: [not leader]}}",
        "librdkafka's name of an error",
    ),
    "errors that name none": ("recovery: 30s", "errors: {writer: {must: []}}", "names no error; write must:"),
    "a probe named like a part of a bound": ("  reader:\n", "  during:\n", "has a meaning in `expect`"),
    "a reader without a group named like a group": (
        "  reader:\n",
        "  readers: {consume: {topic: orders, assign: all}}\n  reader:\n",
        "a group has its name",
    ),
    "a name with a space": ("name: kill\n", "name: kill it\n", "write a name"),
}


@pytest.mark.parametrize(("old", "new", "says"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is(tmp_path: Path, old: str, new: str, says: str) -> None:
    """More mistakes between the parts, some of which spoil several places."""
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, SCENARIO.replace(old, new)))
    assert any(says in problem.what for problem in caught.value.problems), str(caught.value)


def transacting(transaction: str, target: str) -> str:
    """The sample with a writer that writes in transactions, and an entry that aims at a coordinator."""
    writing = spoil(SCENARIO, "config: {acks: all}}", f"config: {{acks: all}}, transaction: {transaction}}}")
    return spoil(writing, '"leader(orders, 0)"', f'"{target}"')


@pytest.mark.parametrize(
    ("transaction", "target"),
    [
        ("{records: 10}", "transaction_coordinator(chaosk-writer)"),
        ("{id: tills}", "transaction_coordinator(tills)"),
        ("{id: tills}", "random(1, followers(orders, 0))"),
    ],
)
def test_a_transactional_id_of_a_probe(tmp_path: Path, transaction: str, target: str) -> None:
    """The one that it is given, and without one its own, which is made of its name."""
    assert load_scenario(written(tmp_path, transacting(transaction, target))).transactional_ids


@pytest.mark.parametrize(
    ("transaction", "target", "says"),
    [
        ("{records: 10}", "transaction_coordinator(writer)", "did you mean 'chaosk-writer'?"),
        ("{id: tills}", "random(1, transaction_coordinator(till))", "did you mean 'tills'?"),
        (
            "{id: tills}",
            "transaction_coordinator(chaosk-writer)",
            "there is no transactional.id 'chaosk-writer'; write one of tills",
        ),
    ],
)
def test_a_transactional_id_that_no_probe_has(tmp_path: Path, transaction: str, target: str, says: str) -> None:
    """Is a mistake at the target, with what to write: nobody's coordinator is hit by a slip of the pen."""
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, transacting(transaction, target)))
    (problem,) = caught.value.problems
    assert problem.path == "timeline[0].kill_broker.target"
    assert says in problem.what


def test_a_transactional_id_where_no_probe_has_any(tmp_path: Path) -> None:
    """There is nothing to compare it with: it may be that of an application of theirs, as with groups."""
    loaded = load_scenario(written(tmp_path, spoil(SCENARIO, "leader(orders, 0)", "transaction_coordinator(tills)")))
    assert loaded.transactional_ids == ()


def test_a_probe_may_not_use_kafkas_own_topics(tmp_path: Path) -> None:
    """Faults may aim at them, probes may not write there."""
    with pytest.raises(DocumentError, match="no topic '__consumer_offsets'"):
        load_scenario(
            written(tmp_path, spoil(SCENARIO, "produce: {topic: orders", "produce: {topic: __consumer_offsets"))
        )


@pytest.mark.parametrize("start", ["start_probe: {probe: reader}", "start_probe: {probe: 5}"])
def test_a_probe_that_a_step_starts(tmp_path: Path, start: str) -> None:
    """Some entry starts it; one that is wrong itself may be meant to, and is the only mistake."""
    document = spoil(SCENARIO, "commit: sync", "commit: sync, started_by: step")
    path = written(tmp_path, spoil(document, "settle: 20s", f"  - {start}\nsettle: 20s"))
    if "5" not in start:
        assert load_scenario(path).probes["reader"].started_by == "step"
        return
    with pytest.raises(DocumentError) as caught:
        load_scenario(path)
    assert [problem.path for problem in caught.value.problems] == ["timeline[4].start_probe.probe"]


def test_one_topic_renamed_is_one_problem_for_each_use(tmp_path: Path) -> None:
    """Every place that names a topic is checked, whatever its class: probes, steps, targets, conditions."""
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, spoil(SCENARIO, "topics:\n  orders:", "topics:\n  order:")))
    assert [problem.path for problem in caught.value.problems] == [
        "probes.writer.produce.topic", "probes.reader.consume.topic", "timeline[0].kill_broker.target",
        "timeline[1].when", "timeline[1].elect_leader.topic",
    ]  # fmt: skip


def test_references_to_a_part_that_is_wrong_itself_still_hold(tmp_path: Path) -> None:
    """A topic with a wrong shape is still a topic: its users are not complained about as well."""
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, spoil(SCENARIO, "replication_factor: 3", "replication_factor: many")))
    assert [problem.path for problem in caught.value.problems] == ["topics.orders.replication_factor"]


def test_bounds_of_other_metrics_are_still_checked(tmp_path: Path) -> None:
    """One metric's mistake of shape does not hide another's wrong subject."""
    document = spoil(SCENARIO, "  recovery: 30s", "  recovery: 30\n  latency_p99: {wirter: 1s}")
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, document))
    assert [problem.path for problem in caught.value.problems] == ["expect.recovery", "expect.latency_p99.wirter"]


def test_expressions_from_variables_say_so(tmp_path: Path) -> None:
    """A target that a variable spoiled is reported with the value it came from."""
    document = SCENARIO.replace("count: 6", "count: 6\n  who: leadr(orders, 0)").replace(
        '"leader(orders, 0)"', '"${who}"'
    )
    with pytest.raises(DocumentError, match=r"did you mean 'leader'\? \(\$\{who\} is leadr\(orders, 0\) by default\)"):
        load_scenario(written(tmp_path, document))


def test_draft_keeps_what_is_right() -> None:
    """The parts without mistakes are typed values; of the others the names are known."""
    root, _ = parse(SCENARIO.encode())
    assert root is not None
    made = draft(root, [("topics", "orders", "partitions"), ("timeline", 0, "for"), ("probes", "writer")])
    assert made.topics == {"orders": None}
    assert made.probes["writer"] is None
    assert made.probes["reader"] is not None
    assert made.entries[0] is None
    assert made.entries[1] is not None
    assert made.names == ("kill", "elect_leader-2", "cut", "again-1", "wait-4.2-1", "again-2", "wait-4.2-2")
    assert made.groups == {"readers"}
    assert made.transactional_ids == frozenset()


def test_complaints_find_the_nearest_place() -> None:
    """Where the value itself was not written (a default), what stands around it is named."""
    root, _ = parse(SCENARIO.encode())
    assert root is not None
    made = draft(root, [("topics",), ("timeline",), ("probes",)])
    place, path, _ = made.at(("timeline", 1, "name"), "x")
    assert path == ("timeline", 1)
    entry = descend(root, path)
    assert entry is not None
    assert place == entry.place
    assert made.holds(("timeline", 2, "cut_network"), "broker 2") == ("timeline", 2, "cut_network", "between", 1, 0)
    assert made.holds(("timeline", 2), "nowhere") == ("timeline", 2)
    assert isinstance(descend(root, ("settle",)), Scalar)
    assert not made.written(("timeline", 1, "for"))


REFUSED = {
    "a fault of no time": ("    for: 5s", "    for: 0s", "timeline[2].for", "write how long it lasts"),
    "a condition that nobody waits for": ("timeout: 60s", "timeout: 0s", "timeline[1].timeout", "write how long"),
    "a wait of no time": (
        "wait: {duration: 1s}", "wait: {duration: 0s}", "timeline[3].entries[1].wait.duration", "waits for nothing",
    ),
    "a setting that Kafka does not know": (
        "{min.insync.replicas: 2}", "{min.insync.replica: 2}", "topics.orders.config.min.insync.replica",
        "did you mean 'min.insync.replicas'?",
    ),
    "a value that a broker refuses": (
        "{min.insync.replicas: 2}", "{retention.ms: -2}", "topics.orders.config.retention.ms", "number from -1 up",
    ),
    "one that a step sets": (
        "elect_leader: {topic: orders, election: preferred}",
        "set_topic_config: {topic: orders, config: {segment.ms: 0}}",
        "timeline[1].set_topic_config.config.segment.ms", "whole number from 1 up",
    ),
    "names that are one in Kafka's metrics": (
        "topics:\n", "topics:\n  a.b: {}\n  a_b: {}\n", "topics.a_b", "in Kafka's metrics both have one name",
    ),
    "a name like Kafka's own there": (
        "topics:\n", "topics:\n  ._consumer_offsets: {}\n", "topics.._consumer_offsets", "beside '__consumer_offsets'",
    ),
    "a name of no topic": ("topics:\n", "topics:\n  ..: {}\n", "topics...", "the name of no topic"),
    "more replicas than brokers": (
        "replication_factor: 3", "replication_factor: 4", "topics.orders.replication_factor",
        "write replication_factor: 3",
    ),
    "more than are asked for": (
        "cluster:\n  brokers: 3\n", "cluster:\n  brokers: {min: 2}\n", "topics.orders.replication_factor",
        "write at most 2, or cluster: {brokers: {min: 3}}",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "path", "says"), REFUSED.values(), ids=REFUSED)
def test_what_kafka_or_time_refuses_is_one_problem(tmp_path: Path, old: str, new: str, path: str, says: str) -> None:
    """At its place, with what to write instead."""
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, spoil(SCENARIO, old, new)))
    assert [problem.path for problem in caught.value.problems] == [path]
    assert says in caught.value.problems[0].what


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("wait: {duration: 1s}", "when: isr_full(orders)\n        wait: {duration: 0s}"),
        ("topics:\n", "topics:\n  a.b: {}\n  a.c: {}\n"),
        ("{min.insync.replicas: 2}", "{segment.bytes: 20000}"),
        ("cluster:\n  brokers: 3\n", "cluster:\n  brokers: {min: 3}\n"),
    ],
)
def test_their_near_misses_are_right(tmp_path: Path, old: str, new: str) -> None:
    """A wait of no time behind a condition, names of their own, what one release takes."""
    document = spoil(SCENARIO, old, new)
    if "when: isr_full(orders)\n        wait" in new:
        document = spoil(document, "- after: {entry: again, is: healed}\n        when", "- when")
    assert load_scenario(written(tmp_path, document)).timeline


def test_a_setting_is_held_against_the_release_that_is_asked_for(tmp_path: Path) -> None:
    """4.2 does not take segments as short as 3.9 does."""
    small = spoil(SCENARIO, "{min.insync.replicas: 2}", "{segment.bytes: 20000}")
    for shape, right in (("mode: zookeeper", True), ("versions: [3.9.2]", True), ("versions: [4.2.0]", False)):
        path = written(tmp_path, spoil(small, "  brokers: 3\n", f"  brokers: 3\n  {shape}\n"))
        if right:
            assert load_scenario(path).topics
        else:
            with pytest.raises(DocumentError, match="from 1048576"):
                load_scenario(path)


FAILING = {
    "an entry that there is not": ("{after: kil}", "must_fail.after", "did you mean 'kill'?"),
    "an end that there is not": ("{after: kill, until: cutt}", "must_fail.until", "did you mean 'cut'?"),
    "an end above its begin": ("{after: cut, until: kill}", "must_fail.until", "name a later entry"),
    "fenced by nobody": ("fenced", "must_fail", "has no transactional.id, so no client can fence it"),
    "another word": ("never", "must_fail", "write always, fenced or {after: ENTRY}"),
    "nothing": ("{}", "must_fail", "does not say when"),
}


@pytest.mark.parametrize(("how", "path", "says"), FAILING.values(), ids=FAILING)
def test_a_probe_that_cannot_fail_as_it_must(tmp_path: Path, how: str, path: str, says: str) -> None:
    """Each is one problem."""
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, spoil(SCENARIO, "rate: 500/s,", f"rate: 500/s, must_fail: {how},")))
    (problem,) = caught.value.problems
    assert path in problem.path
    assert says in problem.what


@pytest.mark.parametrize(
    "how", ["always", "{after: kill}", "{after: {entry: kill, is: applied, delay: 5s}, until: cut}"]
)
def test_a_probe_that_must_fail(tmp_path: Path, how: str) -> None:
    """Its spellings survive the plan."""
    scenario = load_scenario(written(tmp_path, spoil(SCENARIO, "rate: 500/s,", f"rate: 500/s, must_fail: {how},")))
    assert scenario.probes["writer"].must_fail is not None
    assert type(scenario).model_validate_json(scenario.model_dump_json(by_alias=True)) == scenario


def test_a_probe_is_fenced_by_one_with_its_transactional_id(tmp_path: Path) -> None:
    """Two that share one."""
    own = "transaction: {id: billing}"
    document = spoil(SCENARIO, "rate: 500/s,", f"rate: 500/s, must_fail: fenced, {own},")
    other = f"  reader:\n    produce: {{topic: orders, rate: 5/s, {own}}}\n  third:\n"
    assert load_scenario(written(tmp_path, spoil(document, "  reader:\n", other))).probes["writer"].must_fail
