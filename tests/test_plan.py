"""Plans: complete, equal when read back, and free of secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_documents import INVENTORY, SCENARIO, written

from chaosk import __version__
from chaosk.core.errors import ExitCode, UsageError
from chaosk.document import load_inventory, load_scenario
from chaosk.planning.plan import Plan, installed_versions, make
from chaosk.spec.inventory import Inventory


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """The plan of the samples."""
    inventory = load_inventory(written(tmp_path, INVENTORY, "inventory.yaml"))
    assert isinstance(inventory, Inventory)
    return make(load_scenario(written(tmp_path, SCENARIO)), inventory, run_id="run-1", seed=7)


def test_reads_back_equal(plan: Plan) -> None:
    """plan.json holds all there is to know: read again, it is the same plan."""
    assert Plan.from_json(plan.to_json()) == plan


def test_it_is_written_for_people(plan: Plan) -> None:
    """Indented JSON with the words of a scenario file, durations with units."""
    data = json.loads(plan.to_json())
    assert data["scenario"]["timeline"][0]["for"] == "30s"
    assert data["seed"] == 7
    assert plan.to_json().startswith('{\n  "version": 1')


def test_it_holds_references_not_secrets(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable's name is in the plan, its value is not."""
    monkeypatch.setenv("KAFKA_PASSWORD", "hunter2-token")
    assert "KAFKA_PASSWORD" in plan.to_json()
    assert "hunter2" not in plan.to_json()


def test_versions_of_what_acts_and_judges() -> None:
    """Chaosk itself, Python, librdkafka and the libraries, each with a version."""
    versions = installed_versions()
    assert versions["chaosk"] == __version__
    assert {"python", "librdkafka", "pyspark", "pyarrow", "confluent-kafka", "paramiko"} <= versions.keys()
    assert all(version[0].isdigit() for version in versions.values())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "null",
        "[1]",
        "not json",
        '{"version": 1}',
        '{"version": 1, "scenario": {"timeline": [{"a": 1, "b": 2}]}}',
    ],
)
def test_damaged_plan(text: str) -> None:
    """One clear error instead of a traceback, whatever the file holds."""
    with pytest.raises(UsageError, match=r"plan\.json is damaged") as caught:
        Plan.from_json(text)
    assert caught.value.exit_code is ExitCode.USAGE


def test_damage_anywhere_is_noticed(plan: Plan) -> None:
    """A step or probe of another name, a lost key: each is damage, not another exception."""
    text = plan.to_json()
    for old, new in (("kill_broker", "kill_nobody"), ('"produce"', '"prodce"'), ('"seed"', '"sed"')):
        with pytest.raises(UsageError, match="damaged"):
            Plan.from_json(text.replace(old, new))


def test_plan_of_another_version(plan: Plan) -> None:
    """A later format is named as such, not read as if it were ours."""
    with pytest.raises(UsageError, match="has version 2; this chaosk reads version 1"):
        Plan.from_json(plan.to_json().replace('"version": 1', '"version": 2', 1))
