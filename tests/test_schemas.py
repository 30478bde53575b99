"""JSON Schemas: current, valid, and of one mind with the loader."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import shipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from malformed_documents import CORPUS, Malformed
from sample_documents import COMBINED, INVENTORY, SCENARIO, VARIED, written
from sample_explore import SPACE

from chaosk.campaign.explore.space_file import load_space
from chaosk.cli import _json_schemas
from chaosk.document import DocumentError, load_inventory, load_variants
from chaosk.document.nodes import plain
from chaosk.document.parse import parse
from chaosk.spec.scenario import probes, steps

ROOT = Path(__file__).parents[1]
SHAPE = {
    "unknown key", "unknown step", "unknown probe", "unknown metric", "type", "duration", "missing", "no value",
    "variants", "matrix", "both",
}  # fmt: skip
"""Classes of mistakes that are a matter of shape: a schema has to see them, too."""
SEEN = [case for case in CORPUS if case.kind in SHAPE and "longer than" not in case.says]
"""The longest duration is the one rule about shape that a pattern cannot hold."""


LOADERS: dict[str, Callable[[Path], object]] = {
    "scenario": load_variants, "space": load_space, "inventory": load_inventory,
}  # fmt: skip


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """A validator of one of the schemas."""
    return jsonschema.Draft202012Validator(_json_schemas.SCHEMAS[name]())


def data(text: bytes) -> Any:
    """The plain data of a document, as an editor sees it."""
    root, _ = parse(text)
    assert root is not None
    return plain(root)


@pytest.mark.parametrize("name", _json_schemas.SCHEMAS)
def test_the_committed_schema_is_current(name: str) -> None:
    """`chaosk schema NAME > schemas/NAME.schema.json` would change nothing."""
    assert (ROOT / f"schemas/{name}.schema.json").read_text(encoding="utf-8") == _json_schemas.text(name)


@pytest.mark.parametrize("name", _json_schemas.SCHEMAS)
def test_it_is_a_schema(name: str) -> None:
    """Valid by the rules of JSON Schema 2020-12, and says that it is of that kind."""
    schema = _json_schemas.SCHEMAS[name]()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == _json_schemas.DIALECT
    assert schema["title"]


@pytest.mark.parametrize("path", shipped.SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenarios_fit(path: Path) -> None:
    """What the loader accepts, an editor accepts, variables included."""
    validator("scenario").validate(data(path.read_bytes()))


@pytest.mark.parametrize("path", shipped.SPACES, ids=lambda path: path.stem)
def test_shipped_spaces_fit(path: Path) -> None:
    """What is drawn from is accepted by an editor, too, and is no scenario to it."""
    validator("space").validate(data(path.read_bytes()))
    assert not validator("scenario").is_valid(data(path.read_bytes()))


@pytest.mark.parametrize("path", sorted((ROOT / "inventory").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_inventories_fit(path: Path) -> None:
    """The example cluster and the lab."""
    validator("inventory").validate(data(path.read_bytes()))


def test_samples_fit() -> None:
    """The samples of the loader's tests."""
    for sample in (SCENARIO, VARIED, COMBINED):
        validator("scenario").validate(data(sample.encode()))
    validator("inventory").validate(data(INVENTORY.encode()))
    validator("space").validate(data(SPACE.encode()))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("count: {min: 2, max: 5}", "count: 0"),
        ("gap: {min: 1s, max: 3s}", "gap: 3"),
        ("gap: {min: 1s, max: 3s}", "gab: 3s"),
        ("any: [2s, 4s]", "any: []"),
        ("any: [2s, 4s]", "min: 2s"),
        ("{target: broker 1}", "{tarjet: broker 1}"),
        ("- pause_broker:", "- pause_brokr:"),
        ("explore:\n", "timeline: []\nexplore:\n"),
        ("election: preferred}", "election: preferred}\n      at: 3s"),
    ],
)
def test_what_is_no_space_is_rejected(old: str, new: str) -> None:
    """A sample of mistakes of shape in spaces."""
    assert SPACE.count(old) == 1
    assert not validator("space").is_valid(data(SPACE.replace(old, new).encode()))


@pytest.mark.parametrize("case", SEEN, ids=lambda case: f"{case.kind}: {case.says}"[:50])
def test_what_the_loader_rejects_for_shape_is_rejected(case: Malformed) -> None:
    """A mistake of shape is seen by an editor, before chaosk is run."""
    assert not validator("scenario").is_valid(data(case.document))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: staging", "name: My cluster"),
        ("  0:\n", "  zero:\n"),
        ("{systemd: kafka.service}", "{systemd: kafka}"),
        ("{systemd: kafka.service}", "{systemd: kafka.service, start: [a]}"),
        ("port: 9093", "port: 99999"),
        ("{env: KAFKA_PASSWORD}", "{evn: A}"),
        ("hosts:\n", "hosst:\n"),
    ],
)
def test_what_is_no_inventory_is_rejected(old: str, new: str) -> None:
    """A sample of mistakes of shape in inventories."""
    assert not validator("inventory").is_valid(data(INVENTORY.replace(old, new).encode()))


def test_lab_files_are_told_from_inventories() -> None:
    """One mistake in a lab file is not twenty about an inventory."""
    errors = list(validator("inventory").iter_errors({"lab": {"brokers": 0}}))
    assert [list(error.absolute_path) for error in errors] == [["lab", "brokers"]]


def test_every_step_and_probe_is_a_key_with_words() -> None:
    """An editor offers each of them, with what it does."""
    defs = _json_schemas.scenario()["$defs"]
    for kind, known in (("Entry", steps()), ("Probe", probes())):
        for name in known:
            offered = defs[kind]["properties"][name]
            assert offered.get("description") or defs[offered["$ref"].rpartition("/")[2]]["description"], name
        assert defs[kind]["oneOf"] == [{"required": [name]} for name in known]


@pytest.mark.parametrize("place", ["for", "at"])
def test_a_variable_fits_wherever_a_value_does(place: str) -> None:
    """Alone or inside text; but two steps in one entry still do not fit."""
    entry = {"kill_broker": {"target": "${who}"}, place: "${hold}"}
    document = {**data(SCENARIO.encode()), "timeline": [entry]}
    assert validator("scenario").is_valid(document)
    entry["stop_broker"] = {"target": "brokers"}
    assert not validator("scenario").is_valid(document)


def test_a_verdict_fits_its_schema() -> None:
    """The contract for who reads verdict.json, on a small one."""
    from chaosk.rundir.verdict import Guard, Outcome, Verdict

    verdict = Verdict(
        scenario="x", hypothesis="y", found=Outcome.INCONCLUSIVE, verdict=Outcome.INCONCLUSIVE, summary="z", began=1,
        wall=2, duration=3.0, guards=(Guard(guard="no_sends", what="nothing was sent"),), healed=True,
    )  # fmt: skip
    document = json.loads(verdict.model_dump_json())
    validator("verdict").validate(document)
    del document["healed"]
    assert not validator("verdict").is_valid(document)
    assert not validator("verdict").is_valid({**document, "healed": True, "found": "great"})


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_what_the_loader_accepts_the_schema_accepts(tmp_path: Path, data_: st.DataObject) -> None:
    """An editor never complains about a file that runs: over mutations of the samples, lines and words exchanged."""
    samples = [
        ("scenario", SCENARIO), ("scenario", VARIED), ("scenario", COMBINED), ("space", SPACE),
        ("inventory", INVENTORY),
    ]  # fmt: skip
    name, sample = data_.draw(st.sampled_from(samples))
    lines = sample.splitlines()
    place = data_.draw(st.integers(0, len(lines) - 1))
    words = lines[place].split(" ")
    changed = data_.draw(st.integers(0, len(words) - 1))
    words[changed] = data_.draw(
        st.sampled_from(sample.split()) | st.sampled_from(["5", "2s", "true", "x", "[a]", "{}"])
    )
    lines[place] = " ".join(words)
    text = "\n".join(lines)
    try:
        LOADERS[name](written(tmp_path, text))
    except DocumentError:
        return
    validator(name).validate(data(text.encode()))


@pytest.mark.parametrize(
    "expect",
    [
        {"unavailability": "20s"}, {"unavailability": {"max": "20s", "during": "kill"}},
        {"unavailability": ["1s", "2s"]},
        {"unavailability": {"writer": "20s"}}, {"unavailability": {"writer": [{"min": "1s"}, "20s"]}},
        {"lost_records": 0}, {"lost_records": {"min": 1}}, {"rate": "400/s"}, {"verdict": "fail"}, {},
    ],
)  # fmt: skip
def test_every_spelling_of_bounds_fits(expect: dict[str, object]) -> None:
    """Bare, with ends, with a window, several, by subject."""
    assert validator("scenario").is_valid({**data(SCENARIO.encode()), "expect": expect})


@pytest.mark.parametrize(
    "expect",
    [
        {"unavailability": 20}, {"unavailability": {"during": "kill"}}, {"unavailability": []}, {"unavailability": {}},
        {"unavailability": {"writer": 20}}, {"lost_records": "0"}, {"lost_records": -1}, {"rate": 400},
        {"verdict": "great"}, {"nothing": 1}, {"unavailability": {"min": "1s", "durign": "kill"}}, 5, [],
    ],
)  # fmt: skip
def test_what_bounds_nothing_does_not_fit(expect: object) -> None:
    """The same mistakes that the loader names."""
    assert not validator("scenario").is_valid({**data(SCENARIO.encode()), "expect": expect})
