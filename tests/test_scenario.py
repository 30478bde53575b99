"""Scenarios as values: names, forms, and that the JSON form reads back equal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sample_documents import SCENARIO, written

from chaosk.document import load_scenario
from chaosk.probes.produce import Produce
from chaosk.spec.scenario import After, ClusterShape, Entry, Scenario, Size, default_name, probes, steps

MINIMAL: dict[str, Any] = {
    "name": "x",
    "hypothesis": "y",
    "topics": {"orders": {}},
    "probes": {"writer": {"produce": {"topic": "orders"}}},
    "timeline": [{"kill_broker": {"target": "brokers"}}],
}


def scenario(**changes: object) -> Scenario:
    """The smallest scenario, with some of its keys changed."""
    return Scenario.model_validate_json(json.dumps({**MINIMAL, **changes}))


def test_defaults() -> None:
    """What is left out has the documented value."""
    small = scenario()
    assert small.topics["orders"].replication_factor == 3
    assert (small.baseline, small.settle) == (5.0, 10.0)
    assert small.cluster == ClusterShape(brokers=Size(min=3), zookeepers=Size(min=3))
    assert small.expect.bounds == {}


def test_document_form_becomes_typed_steps_and_probes() -> None:
    """The one key that is not grammar is the step; the one key of a probe is its kind."""
    small = scenario()
    assert small.timeline[0].step == steps()["kill_broker"].model_validate({"target": "brokers"})
    assert small.timeline[0].kind == "kill_broker"
    assert isinstance(small.probes["writer"], Produce)


def test_entries_without_a_name_are_named_by_step_and_place() -> None:
    """Places count from 1 over the whole timeline; given names stay."""
    timeline = [{"kill_broker": {"target": "brokers"}}, {"name": "mine", "wait": {"duration": "1s"}},
                {"wait": {"duration": "1s"}}]  # fmt: skip
    assert [entry.name for entry in scenario(timeline=timeline).timeline] == ["kill_broker-1", "mine", "wait-3"]
    assert default_name(4, {"at": "1s"}) == "entry-5"


def test_short_forms() -> None:
    """`after: name` and `brokers: 1` stand for the mappings they mean."""
    entry = {"after": "kill", "wait": {"duration": "1s"}, "name": "w"}
    assert Entry.model_validate_json(json.dumps(entry)).after == After(entry="kill", is_="done")
    assert scenario(cluster={"brokers": 1}).cluster.brokers == Size(min=1, max=1)


def test_json_form_is_the_document_form() -> None:
    """A plan shows a scenario the way a user would write it."""
    plain = json.loads(scenario().model_dump_json(by_alias=True))
    assert plain["timeline"] == [
        {
            "name": "kill_broker-1",
            "timeout": "1m",
            "kill_broker": {"target": "brokers", "restart": "held", "how": "sigkill"},
        },
    ]
    assert list(plain["probes"]["writer"]) == ["produce"]


def test_sample_reads_back_equal(tmp_path: Path) -> None:
    """Through JSON and back nothing of a full scenario changes."""
    loaded = load_scenario(written(tmp_path, SCENARIO))
    assert Scenario.model_validate_json(loaded.model_dump_json(by_alias=True)) == loaded


def test_values_are_frozen() -> None:
    """Nothing changes a scenario after loading."""
    with pytest.raises(ValidationError, match="frozen"):
        scenario().name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("change", [{"extra": 1}, {"topics": {}}, {"name": ""}, {"baseline": 5}, {"probes": {}}])
def test_what_is_wrong_is_refused(change: dict[str, object]) -> None:
    """Also where the JSON form is damaged, outside of the document loader."""
    with pytest.raises(ValidationError):
        scenario(
            **{"probes": {"writer": {"produce": {"topic": "orders", "nope": 1}}}}
            if change == {"probes": {}}
            else change
        )


def test_registry_knows_every_step_and_probe_of_the_first_issue() -> None:
    """The names that scenarios are written with."""
    assert {
        "stop_broker", "kill_broker", "start_broker", "restart_broker", "pause_broker", "stop_zookeeper",
        "kill_zookeeper", "start_zookeeper", "restart_zookeeper", "cut_network", "elect_leader", "stop_probe",
        "kill_probe", "start_probe", "wait",
    } <= steps().keys()  # fmt: skip
    assert {"produce", "consume"} <= probes().keys()


_DURATIONS = st.integers(0, 100_000).map(lambda number: f"{number}ms")
_ENTRIES = st.fixed_dictionaries(
    {"wait": st.fixed_dictionaries({"duration": _DURATIONS})},
    optional={"at": _DURATIONS, "timeout": _DURATIONS, "for": _DURATIONS, "when": st.text(min_size=1, max_size=10)},
)


@given(st.lists(_ENTRIES, min_size=1, max_size=5), _DURATIONS, st.integers(1, 100))
def test_any_scenario_reads_back_equal(timeline: list[dict[str, Any]], settle: str, partitions: int) -> None:
    """Durations of any length, entries with any triggers: JSON and back is the identity."""
    made = scenario(timeline=timeline, settle=settle, topics={"orders": {"partitions": partitions}})
    assert Scenario.model_validate_json(made.model_dump_json(by_alias=True)) == made
