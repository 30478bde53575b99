"""What no scenario may expect: what every run keeps, what nobody can measure, and predictions that name nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_documents import SCENARIO, spoil, written

from chaosk.document import DocumentError, load_scenario
from chaosk.document.problems import Problem

READER = "consume: {topic: orders, group: readers, commit: sync}"


def told(folder: Path, expect: str, *changes: tuple[str, str]) -> list[Problem]:
    """What is wrong with the sample when it expects that, in place of a recovery within 30 s."""
    document = spoil(SCENARIO, "  recovery: 30s", f"  {expect}")
    for old, new in changes:
        document = spoil(document, old, new)
    try:
        load_scenario(written(folder, document))
    except DocumentError as error:
        return list(error.problems)
    return []


NEVER_MISSED = {
    "a rate of nothing": ("throughput: 0/s", "expect.throughput", "write min: 1/s"),
    "a share of nothing": ("availability: 0 %", "expect.availability", "write min: 99 %"),
    "no time at least": ("latency_max: {writer: {min: 0s}}", "expect.latency_max.writer.min", "write min: 1s"),
    "none at least": ("duplicate_records: {min: 0}", "expect.duplicate_records.min", "write min: 1, or a max"),
    "in a list": (
        "acknowledgements: [{min: 5}, {min: 0, during: kill}]", "expect.acknowledgements[1].min", "write min: 1",
    ),
    "or the run is void": ("leader_changes: {min: 0, or: inconclusive}", "expect.leader_changes.min", "write min: 1"),
    "all at most": ("lost_share: 100 %", "expect.lost_share", "write max: 1 %"),
    "from none to all": ("availability: {min: 0 %, max: 100 %}", "expect.availability.max", "no run misses it"),
}  # fmt: skip


@pytest.mark.parametrize(("expect", "path", "says"), NEVER_MISSED.values(), ids=NEVER_MISSED)
def test_a_bound_that_no_run_misses_is_refused(tmp_path: Path, expect: str, path: str, says: str) -> None:
    """One error, at its place, with the nearest bound that a run can miss."""
    (problem,) = told(tmp_path, expect)
    assert (problem.path, problem.line) == (path, line_of(expect))
    assert says in problem.what


def line_of(expect: str) -> int:
    """The line in which the sample expects that."""
    document = spoil(SCENARIO, "  recovery: 30s", f"  {expect}")
    return document[: document.index(expect)].count("\n") + 1


@pytest.mark.parametrize(
    "expect",
    [
        "duplicate_records: 0", "duplicate_records: {min: 0, max: 3}", "availability: {max: 99 %}",
        "unavailable_total: 0s", "lost_share: {min: 1 %, max: 100 %}", "deliveries: {reader: {min: 1}}",
    ],
)  # fmt: skip
def test_a_bound_that_a_run_can_miss_is_right(tmp_path: Path, expect: str) -> None:
    """Near misses: none exactly, an end that can be passed."""
    assert told(tmp_path, expect) == []


NOBODYS = {
    "a consumer's of a producer": (
        "end_to_end_p99: {writer: 1s}", "expect.end_to_end_p99.writer",
        "writer never has end_to_end_p99: it is a produce; write reader in place of writer, or bound its latency_p99",
    ),
    "a producer's of a consumer": ("latency_max: {reader: 1s}", "expect.latency_max.reader", "its end_to_end_max"),
    "one among several": (
        "acknowledgements: {of: [writer, reader], min: 1}", "expect.acknowledgements.of[1]", "bound its deliveries",
    ),
    "of no kind of probe there is": ("call_time_max: 1s", "expect.call_time_max", "no probe is of a kind that has it"),
    "connections that nobody watches": (
        "connections_peak: {reader: {max: 5}}", "expect.connections_peak.reader", "write connections: true to a probe",
    ),
    "failures of who never fails": (
        "swallowed_records: 0", "expect.swallowed_records", "write `failing` to a probe that commits",
    ),
    "of an entry that does nothing": (
        "recovery: {wait-4.2-1: 9s}", "expect.recovery.wait-4.2-1", "has no effect on the cluster",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("expect", "path", "says"), NOBODYS.values(), ids=NOBODYS)
def test_a_figure_that_its_subject_never_has_is_refused(tmp_path: Path, expect: str, path: str, says: str) -> None:
    """With who has it, and what else of that subject can be bound."""
    (problem,) = told(tmp_path, expect)
    assert problem.path == path
    assert says in problem.what


def test_what_a_group_never_got_where_nobody_reads_for_a_group(tmp_path: Path) -> None:
    """A reader that assigns itself has no group that it could fail; with one it has."""
    alone = (READER, "consume: {topic: orders, assign: all}")
    (problem,) = told(tmp_path, "unseen_records: 0", alone)
    assert problem.path == "expect.unseen_records"
    assert "give reader a group, or bound end_to_end_max: {reader: 30s}" in problem.what
    assert told(tmp_path, "unseen_records: 0") == []


def test_rebalances_of_members_that_assign_their_own_partitions(tmp_path: Path) -> None:
    """They have none; and who never commits passes nothing over."""
    own = (READER, "consume: {topic: orders, group: readers, assign: all, commit: sync}")
    (problem,) = told(tmp_path, "rebalances: {readers: 0}", own)
    assert "no probe gets its partitions from a group" in problem.what
    silent = (READER, "consume: {topic: orders, group: readers, commit: none}")
    (problem,) = told(tmp_path, "skipped_records: {readers: 0}", silent)
    assert problem.path == "expect.skipped_records.readers"


def test_losses_of_a_topic_that_nobody_writes(tmp_path: Path) -> None:
    """Who sends nothing loses nothing; the topic that is written can."""
    two = ("topics:\n", "topics:\n  idle: {}\n")
    (problem,) = told(tmp_path, "duplicate_records: {idle: 0}", two)
    assert "no probe writes to it; write orders in place of idle" in problem.what
    assert told(tmp_path, "duplicate_records: {orders: 0}", two) == []
    assert told(tmp_path, "leader_changes: {idle: 0}", two) == []


UNNAMED = {
    "a violation": ("verdict: violation", "expect.verdict", "name the rule or the figure"),
    "a failure": ("verdict: fail", "expect.verdict", "name the rule or the figure"),
    "by a figure that is no violation": (
        "{unavailability: {min: 5s}, uncertain_records: {min: 1}, verdict: violation}", "expect.verdict",
        "name the rule or the figure",
    ),
    "by a bound from above": ("{verdict: violation, duplicate_records: {max: 3}}", "expect.verdict", "name the rule"),
    "missing evidence": ("verdict: inconclusive", "expect.verdict", "cannot expect missing evidence"),
    "a degradation of one of several": (
        "{verdict: degraded, recovery: 9s, unavailability: 1s}", "expect.verdict", "of 2 bounds",
    ),
    "a degradation of nothing": ("{verdict: degraded}", "expect.verdict", "there is no bound to miss"),
    "rules without a verdict": ("rules: [A4]", "expect.rules", "write `verdict: violation` as well"),
    "rules of a degradation": (
        "{verdict: degraded, recovery: 9s, rules: [A4]}", "expect.rules", "or `verdict: pass` if all are allowed",
    ),
    "a rule that there is not": ("{verdict: violation, rules: [A44]}", "expect.rules[0]", "did you mean 'A4'?"),
    "a rule that only measures": ("{verdict: violation, rules: {D1: all}}", "expect.rules.D1", "no finding is of a"),
    "a rule of nobody there": (
        "{verdict: violation, rules: {must: {A4: [order]}}}", "expect.rules.must.A4[0]", "did you mean 'orders'?",
    ),
    "no rule": ("{verdict: violation, rules: []}", "expect.rules", "names no rule"),
    "a rule of nobody": ("{verdict: violation, rules: {A4: []}}", "expect.rules", "A4 names no reader"),
}  # fmt: skip


@pytest.mark.parametrize(("expect", "path", "says"), UNNAMED.values(), ids=UNNAMED)
def test_a_prediction_that_does_not_say_what_is_refused(tmp_path: Path, expect: str, path: str, says: str) -> None:
    """One error, with what to write."""
    head, _, _ = SCENARIO.partition("expect:\n")
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, f"{head}expect: {expect if expect.startswith('{') else '{' + expect + '}'}\n"))
    (problem,) = caught.value.problems
    assert problem.path.startswith(path)
    assert says in problem.what


@pytest.mark.parametrize(
    "expect",
    [
        "{verdict: violation, rules: [A4, B3]}", "{verdict: violation, rules: {A4: [orders], B3: all}}",
        "{verdict: violation, rules: {must: {B3: [readers]}, may: [B6]}}",
        "{verdict: violation, lost_records: {orders: {min: 1}}}", "{verdict: degraded, unavailability: 1s}",
        "{verdict: pass}",
    ],
)  # fmt: skip
def test_a_prediction_that_says_what_is_right(tmp_path: Path, expect: str) -> None:
    """And survives the plan."""
    head, _, _ = SCENARIO.partition("expect:\n")
    scenario = load_scenario(written(tmp_path, f"{head}expect: {expect}\n"))
    assert type(scenario).model_validate_json(scenario.model_dump_json(by_alias=True)) == scenario


def test_no_more_is_said_of_a_prediction_whose_figure_cannot_be_read(tmp_path: Path) -> None:
    """`lost_records: {min: x}` would have named it: that is the one mistake."""
    head, _, _ = SCENARIO.partition("expect:\n")
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, head + "expect: {verdict: violation, lost_records: {min: x}}\n"))
    assert [problem.path for problem in caught.value.problems] == ["expect.lost_records.min"]
