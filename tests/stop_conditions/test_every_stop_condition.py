"""What holds for every stop condition there is."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from sample_documents import INVENTORY, SCENARIO, written

from chaosk.core import docstrings
from chaosk.document import DocumentError, load_inventory, load_scenario
from chaosk.planning.plan import Plan, make
from chaosk.spec.contracts.stop_condition import StopCondition
from chaosk.spec.contracts.stop_rules import stop_conditions
from chaosk.spec.inventory import Inventory

KINDS = stop_conditions()


def test_those_that_were_asked_for_are_there() -> None:
    """By the names that scenarios use."""
    assert set(KINDS) == {
        "command", "host_unreachable", "offline_partition", "probe_errors", "under_min_isr", "url",
    }  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_the_example_can_be_copied(tmp_path: Path, name: str) -> None:
    """Into a scenario and into an inventory; a run's plan keeps both as they were."""
    example = KINDS[name].example
    scenario = load_scenario(written(tmp_path, SCENARIO + example))
    inventory = load_inventory(written(tmp_path, INVENTORY + example))
    assert isinstance(inventory, Inventory)
    again = Plan.from_json(make(scenario, inventory, "run", 1).to_json())
    for one in (again.scenario.stop_conditions, again.inventory.stop_conditions):
        assert [type(each) for each in one] == [KINDS[name]]
        assert one == scenario.stop_conditions
    (item,) = yaml.safe_load(example)["stop_conditions"]
    assert set(item) == {name}


@pytest.mark.parametrize("name", KINDS)
def test_its_page_can_be_written(name: str) -> None:
    """The condition and each of its fields say what they are, and it says how often it looks."""
    kind = KINDS[name]
    assert kind.__doc__
    assert kind.__doc__ != StopCondition.__doc__
    assert docstrings.of_fields(kind).keys() >= kind.model_fields.keys()


def test_several_of_a_kind(tmp_path: Path) -> None:
    """A list: two commands are two."""
    text = "stop_conditions:\n  - command: {argv: [a]}\n  - command: {argv: [b, c], every: 1s}\n"
    loaded = load_scenario(written(tmp_path, SCENARIO + text)).stop_conditions
    assert [each.model_dump()["argv"] for each in loaded] == [("a",), ("b", "c")]


@pytest.mark.parametrize("document", [SCENARIO, INVENTORY])
@pytest.mark.parametrize(
    ("item", "line", "told"),
    [
        ("under_min_isr: {least: 0}", 2, "stop_conditions[0].under_min_isr.least"),
        ("under_isr: {}", 2, "did you mean 'under_min_isr'?"),
        ("{}", 2, "names no stop condition"),
        ("{under_min_isr: {}, offline_partition: {}}", 2, "write one stop condition in each"),
        ("command: {argv: ls}", 2, "argv"),
        ("command: {argv: []}", 2, "argv"),
        ("url: {url: 'file:///etc/passwd'}", 2, "url"),
        ("url: {url: 'http://me:secret@example.com/'}", 2, "url"),
        ("probe_errors: {above: 1}", 2, "above"),
        ("probe_errors: {above: 0.5, window: 5m}", 2, "window"),
        ("host_unreachable: {within: 5}", 2, "not a duration"),
        ("offline_partition: {every: 1s}", 2, "there is no 'every' here"),
    ],
)
def test_mistakes_have_their_place(tmp_path: Path, document: str, item: str, line: int, told: str) -> None:
    """In scenarios and inventories: the line, and what to write."""
    path = written(tmp_path, f"{document}stop_conditions:\n  - {item}\n")
    with pytest.raises(DocumentError) as found:
        load_scenario(path) if document is SCENARIO else load_inventory(path)
    assert found.value.problems[0].line == document.count("\n") + line
    assert told in str(found.value)


def test_an_inventory_knows_no_probes(tmp_path: Path) -> None:
    """The condition would watch over nobody in every scenario that calls its probes something else."""
    text = "stop_conditions:\n  - probe_errors: {above: 0.5, probe: writer}\n"
    with pytest.raises(DocumentError, match=r"probe_errors.probe: only a scenario has probes; leave it out"):
        load_inventory(written(tmp_path, INVENTORY + text))


def test_a_probe_that_is_not_there(tmp_path: Path) -> None:
    """A scenario knows its probes; the condition could never hold."""
    text = "stop_conditions:\n  - probe_errors: {above: 0.5, probe: writr}\n"
    with pytest.raises(DocumentError, match=r"probe_errors.probe: there is no probe 'writr'; did you mean 'writer'"):
        load_scenario(written(tmp_path, SCENARIO + text))
