"""Blocks of rounds: which entries they become, what names mean inside, behind and in bounds."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_documents import SCENARIO, spoil, written

from chaosk.document import DocumentError, load_scenario
from chaosk.document.parse import parse
from chaosk.document.rounds import turns
from chaosk.spec.scenario import After, Scenario, from_plain

HEAD = """\
name: x
hypothesis: y
topics: {orders: {partitions: 3}}
probes: {writer: {produce: {topic: orders}}, chase: {produce: {topic: orders}}}
"""
CHASE = """\
timeline:
  - {name: chase, at: 1s, restart_broker: {target: broker 1}}
  - repeat: 3
    entries:
      - name: kill
        when: leader_elected(orders, 0)
        kill_broker: {target: "leader(orders, 0)"}
        for: 10s
      - after: {entry: kill, is: applied, delay: 2s}
        wait: {duration: 1s}
      - {after: wait-2.2, wait: {duration: 2s}}
  - after: kill
    wait: {duration: 1s}
  - {after: {entry: kill-2, is: healed}, wait: {duration: 1s}}
"""


def chase(tmp_path: Path, expect: str = "{}", document: str = CHASE) -> Scenario:
    """A scenario that kills three times."""
    return load_scenario(written(tmp_path, f"{HEAD}{document}expect: {expect}\n"))


def test_rounds_are_plain_entries_one_after_the_other(tmp_path: Path) -> None:
    """With the number of the round behind the name, a default one as well; what is outside keeps its own."""
    scenario = chase(tmp_path)
    assert [entry.name for entry in scenario.timeline] == [
        "chase", "kill-1", "wait-2.2-1", "wait-2.3-1", "kill-2", "wait-2.2-2", "wait-2.3-2", "kill-3", "wait-2.2-3",
        "wait-2.3-3", "wait-3", "wait-4",
    ]  # fmt: skip
    first, second = scenario.timeline[1], scenario.timeline[4]
    assert second.model_copy(update={"name": first.name}) == first
    assert (second.when, second.lasts, second.kind) == ("leader_elected(orders, 0)", 10.0, "kill_broker")


def test_after_means_the_same_round_inside_and_the_last_one_behind(tmp_path: Path) -> None:
    """Whatever else is said there stays; a round is named by its number from outside."""
    after = {entry.name: entry.after for entry in chase(tmp_path).timeline if entry.after is not None}
    assert after["wait-2.2-2"] == from_plain(After, {"entry": "kill-2", "is": "applied", "delay": "2s"})
    assert [after[f"wait-2.3-{number}"].entry for number in (1, 2, 3)] == [f"wait-2.2-{n}" for n in (1, 2, 3)]
    assert after["wait-3"] == After(entry="kill-3")
    assert after["wait-4"].entry == "kill-2"


def test_a_bound_is_on_each_round(tmp_path: Path) -> None:
    """During an entry of the block, in a list, for a probe, and on a metric of faults; other bounds stay."""
    scenario = chase(
        tmp_path,
        "{unavailability: [9s, {max: 5s, during: kill}, {max: 1s, during: kill-2}], recovery: {kill: 30s, chase: 1s},"
        " latency_p99: {chase: {max: 1s, during: kill}}, rate: {min: 1/s, during: chase}}",
    )
    bounds = scenario.expect.bounds
    assert [(one.max, one.during) for one in bounds["unavailability"][""]] == [
        (9.0, "run"), (5.0, "kill-1"), (5.0, "kill-2"), (5.0, "kill-3"), (1.0, "kill-2"),
    ]  # fmt: skip
    assert {subject: one.max for subject, (one,) in bounds["recovery"].items()} == {
        "kill-1": 30.0, "kill-2": 30.0, "kill-3": 30.0, "chase": 1.0,
    }  # fmt: skip
    assert [one.during for one in bounds["latency_p99"]["chase"]] == ["kill-1", "kill-2", "kill-3"]
    assert [one.during for one in bounds["rate"][""]] == ["chase"]


def test_a_bound_on_several_faults_is_on_all_their_rounds(tmp_path: Path) -> None:
    """Together, once; of probes the names stay what they are."""
    expect = "{recovery: {of: [kill, chase], max: 9s}, rate: {of: [writer, chase], min: 1/s, during: kill-2}}"
    bounds = chase(tmp_path, expect).expect.bounds
    assert [one.of for one in bounds["recovery"][""]] == [("kill-1", "kill-2", "kill-3", "chase")]
    assert [(one.of, one.during) for one in bounds["rate"][""]] == [(("writer", "chase"), "kill-2")]


def test_a_probe_named_like_an_entry_of_a_block_is_a_probe(tmp_path: Path) -> None:
    """Only a metric of faults is about entries."""
    document = CHASE.replace("name: chase", "name: first").replace("name: kill", "name: chase")
    document = document.replace("entry: kill", "entry: chase").replace("after: kill", "after: chase")
    bounds = chase(tmp_path, "{unavailability: {chase: 9s}, recovery: {chase: 9s}}", document).expect.bounds
    assert list(bounds["unavailability"]) == ["chase"]
    assert list(bounds["recovery"]) == ["chase-1", "chase-2", "chase-3"]


def test_rounds_by_a_variable(tmp_path: Path) -> None:
    """How often is set from outside, and what is wrong with it says where it is from."""
    document = CHASE.replace("repeat: 3", "repeat: ${rounds}") + "variables: {rounds: 2}\n"
    document = document.replace("kill-2", "kill-1")
    path = written(tmp_path, HEAD + document)
    assert len(load_scenario(path).timeline) == 3 + 2 * 3
    assert len(load_scenario(path, {"rounds": "9"}).timeline) == 3 + 9 * 3
    with pytest.raises(DocumentError, match=r"at least 1 \(--set rounds=0\)"):
        load_scenario(path, {"rounds": "0"})


def test_a_wrong_number_of_rounds_is_one_mistake(tmp_path: Path) -> None:
    """What names a certain round is not complained about as well; what names none is."""
    with pytest.raises(DocumentError) as caught:
        chase(tmp_path, "{unavailability: {max: 1s, during: kil-3}}", CHASE.replace("repeat: 3", "repeat: 999"))
    found = [(problem.path, problem.what.partition(";")[2]) for problem in caught.value.problems]
    assert found == [
        ("timeline[1].repeat", " write at most 200"),
        ("expect.unavailability.during", " did you mean 'kill'?"),
    ]


def test_a_plan_reads_back(tmp_path: Path) -> None:
    """A run's directory holds the entries, and nobody who reads it needs to know of rounds."""
    scenario = chase(tmp_path)
    assert Scenario.model_validate_json(scenario.model_dump_json(by_alias=True)) == scenario
    assert "repeat" not in scenario.model_dump_json()


def test_a_scenario_without_blocks_is_left_alone(tmp_path: Path) -> None:
    """Default names count places of the file."""
    document = spoil(SCENARIO, SCENARIO[SCENARIO.index("  - repeat") : SCENARIO.index("settle")], "")
    names = [entry.name for entry in load_scenario(written(tmp_path, document)).timeline]
    assert names == ["kill", "elect_leader-2", "cut"]


def test_as_many_as_there_may_be_take_time_by_their_number(tmp_path: Path) -> None:
    """Five hundred entries, with a reference and expressions in each: five times as long as a fifth, not 25 times.

    Of three times each the shortest counts: what else is at work, and the garbage of other tests, only lengthen one.
    """

    def seconds(rounds: int) -> tuple[Scenario, float]:
        block = CHASE.replace("repeat: 3", f"repeat: {rounds}")
        block = block.replace("{duration: 2s}}", "{duration: 2s}, when: broker_up(1)}")
        began = time.process_time()
        return chase(tmp_path, "{unavailability: {max: 5s, during: kill}}", block), time.process_time() - began

    seconds(33)  # what is loaded and cached by the first
    few = min(seconds(33)[1] for _ in range(3))
    many = min(seconds(165)[1] for _ in range(3))
    scenario, _ = seconds(165)
    assert many < 12 * few
    assert len(scenario.timeline) == 498
    assert len(scenario.expect.bounds["unavailability"][""]) == 165


ITEMS = st.recursive(
    st.none() | st.integers(-1, 300) | st.sampled_from(["kill", "1s"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["repeat", "entries", "name", "after", "entry", "wait"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(ITEMS, max_size=4))
def test_whatever_a_timeline_is_has_turns(items: list[object]) -> None:
    """Of any shape: they are counted before anybody knows that it is right, and never more than there may be."""
    root, _ = parse(json.dumps({"timeline": items}).encode())
    if root is not None:
        found = turns(root)
        assert len(found) <= 500
        assert len({(turn.path, turn.round) for turn in found}) == len(found)
