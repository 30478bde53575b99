"""Whole files: what is loaded, with which defaults, and that no file makes it fail in any other way."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import shipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_documents import INVENTORY, SCENARIO, spoil, written

from chaosk.core.errors import ExitCode, UsageError
from chaosk.document import DocumentError, load_inventory, load_scenario, load_variants
from chaosk.rundir.verdict import Outcome
from chaosk.spec.inventory import Inventory, SecretRef
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Scenario

ROOT = Path(__file__).parents[2]


def test_scenario_is_loaded_as_written(tmp_path: Path) -> None:
    """Every part of the sample arrives, in units of the program, variables replaced, names given."""
    scenario = load_scenario(written(tmp_path, SCENARIO))
    kill, elect, cut, *_ = scenario.timeline
    assert scenario.topics["orders"].partitions == 6
    assert (kill.name, kill.at, kill.lasts, kill.kind) == ("kill", 10.0, 30.0, "kill_broker")
    assert (elect.name, elect.when, elect.timeout) == ("elect_leader-2", "isr_full(orders)", 60.0)
    assert cut.after is not None
    assert (cut.after.entry, cut.after.is_, cut.after.delay) == ("kill", "healed", 2.0)
    bound = scenario.expect.bounds["unavailability"]["writer"][0]
    assert (bound.min, bound.max, bound.during) == (1.0, 20.0, "kill")
    assert scenario.expect.bounds["lost_records"][""][0].max == 0
    assert scenario.variables == {"hold": "30s", "count": 6}


def test_set_changes_a_variable(tmp_path: Path) -> None:
    """The value of --set replaces the default everywhere."""
    scenario = load_scenario(written(tmp_path, SCENARIO), {"hold": "1m", "count": "9"})
    assert scenario.timeline[0].lasts == 60.0
    assert scenario.topics["orders"].partitions == 9
    with pytest.raises(DocumentError, match="--set hodl=1m: there is no variable 'hodl'; did you mean 'hold'"):
        load_scenario(written(tmp_path, SCENARIO), {"hodl": "1m"})
    with pytest.raises(DocumentError, match=r"timeline\[0\]\.for: '60' is not a duration.*\(--set hold=60\)"):
        load_scenario(written(tmp_path, SCENARIO), {"hold": "60"})


def test_fail_is_a_word_for_violation(tmp_path: Path) -> None:
    """The outcome can be predicted in the word that people use."""
    document = spoil(SCENARIO, "  recovery: 30s", "  verdict: fail\n  rules: [A4]")
    assert load_scenario(written(tmp_path, document)).expect.verdict is Outcome.VIOLATION


@pytest.mark.parametrize("path", shipped.SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenarios_are_right(path: Path) -> None:
    """Every scenario that comes with chaosk loads, says what it covers, and reads back equal from its plan form."""
    for scenario in load_variants(path).values():
        assert scenario.covers
        assert Scenario.model_validate_json(scenario.model_dump_json(by_alias=True)) == scenario


@pytest.mark.parametrize("path", sorted((ROOT / "inventory").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_inventories_are_right(path: Path) -> None:
    """The lab's files describe labs, the example a cluster."""
    loaded = load_inventory(path)
    assert isinstance(loaded, LabLayout if path.stem.startswith("lab") else Inventory)


def test_secrets_of_a_host_are_located(tmp_path: Path) -> None:
    """Each that it has, for its key, its login and its sudo."""
    secrets = "key_passphrase: {file: a}, password: {file: b}, sudo_password: {env: C}"
    text = INVENTORY.replace("known_hosts: keys/known}", f"known_hosts: keys/known, ssh: {{{secrets}}}}}", 1)
    inventory = load_inventory(written(tmp_path, text))
    assert isinstance(inventory, Inventory)
    found = inventory.hosts["node1"].ssh
    assert found.key_passphrase == SecretRef(file=str(tmp_path / "a"))
    assert found.password == SecretRef(file=str(tmp_path / "b"))
    assert found.sudo_password == SecretRef(env="C")


def test_inventory_is_loaded_with_its_files_located(tmp_path: Path) -> None:
    """File names count from the inventory's folder; secrets stay references."""
    inventory = load_inventory(written(tmp_path, INVENTORY))
    assert isinstance(inventory, Inventory)
    assert inventory.hosts["node1"].key_file == str(tmp_path / "keys/id")
    assert inventory.hosts["node1"].known_hosts == str(tmp_path / "keys/known")
    assert inventory.client["sasl.password"] == SecretRef(env="KAFKA_PASSWORD")
    assert inventory.client["ssl.ca.location"] == str(tmp_path / "ca.pem")
    assert inventory.client["ssl.key.password"] == SecretRef(file=str(tmp_path / "key_password"))
    assert inventory.bootstrap_servers() == "kafka1.example.com:9092,kafka2.example.com:9092"


def test_json_is_read_as_well(tmp_path: Path) -> None:
    """What chaosk writes about an inventory (JSON, ids as quoted keys) is an inventory."""
    inventory = load_inventory(written(tmp_path, INVENTORY))
    assert isinstance(inventory, Inventory)
    text = inventory.model_dump_json(exclude_none=True, by_alias=True)
    assert load_inventory(written(tmp_path, text, "inventory.json")) == inventory


def test_missing_file_and_folder(tmp_path: Path) -> None:
    """A file that cannot be read is one clear problem, and ends the program as bad usage."""
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(DocumentError, match="cannot be read") as caught:
            load_scenario(path)
        assert isinstance(caught.value, UsageError)
        assert caught.value.exit_code is ExitCode.USAGE


def test_endless_file_is_not_read_to_its_end() -> None:
    """A device that never ends is refused after the first mebibytes."""
    with pytest.raises(DocumentError, match="1 MiB"):
        load_scenario(Path("/dev/zero"))


def test_many_mistakes_are_cut_short(tmp_path: Path) -> None:
    """A thousand mistakes are not a thousand lines: the first two hundred count, and the first fifty are shown."""
    document = SCENARIO + "".join(f"key{number}: 1\n" for number in range(1000))
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, document))
    assert len(caught.value.problems) == 200
    assert "… and 150 more" in str(caught.value)
    assert str(caught.value).count("\n") == 50


PIECES = sorted(
    {*SCENARIO.split(), *INVENTORY.split(), "{", "}", "[", "]", ":", "- ", "\n", "\n  ", "${hold}", "&a", "*a"}
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join) | st.text(max_size=100))
def test_any_file_is_loaded_or_refused(tmp_path: Path, document: str) -> None:
    """Words of documents in any order, and any text: a value or a DocumentError, nothing else."""
    path = written(tmp_path, document.encode("utf-8", "surrogatepass"))
    for load in (load_scenario, load_inventory):
        with suppress(DocumentError):
            load(path)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_mutation_is_loaded_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    """The samples with one line replaced, removed, doubled or moved: a value or a DocumentError, nothing else."""
    sample = data.draw(st.sampled_from([SCENARIO, INVENTORY]))
    lines = sample.splitlines()
    place = data.draw(st.integers(0, len(lines) - 1))
    other = data.draw(st.sampled_from(lines) | st.text(alphabet="ab: {}[]-,&*!|>'\"#%@${}0.~", max_size=30))
    lines[place : place + data.draw(st.integers(0, 2))] = [other] * data.draw(st.integers(0, 2))
    path = written(tmp_path, "\n".join(lines))
    try:
        load_scenario(path) if sample == SCENARIO else load_inventory(path)
    except DocumentError as error:
        problems = error.problems
    else:
        return
    assert problems
    assert all(1 <= problem.line <= len(lines) + 1 for problem in problems)


@pytest.mark.parametrize("path", [path for path in shipped.SCENARIOS if "unclean" in path.read_text("utf-8")],
                         ids=lambda path: path.stem)  # fmt: skip
def test_shipped_scenarios_with_unclean_elections_have_a_reader(path: Path) -> None:
    """A group is present while the log is cut back, and commits: what a truncation does to readers is tried."""
    for scenario in load_variants(path).values():
        assert [probe for probe in scenario.probes.values() if not probe.writes and any(probe.groups())]
