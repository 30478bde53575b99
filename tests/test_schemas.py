"""JSON Schemas: current, valid, and of one mind with the loader."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from malformed_documents import CORPUS, Malformed
from sample_documents import INVENTORY, SCENARIO

from chaosk import schemas
from chaosk.document.nodes import plain
from chaosk.document.parse import parse
from chaosk.scenario import probes, steps

ROOT = Path(__file__).parents[1]
SHAPE = {"unknown key", "unknown step", "unknown probe", "unknown metric", "type", "duration", "missing", "no value"}
"""Classes of mistakes that are a matter of shape: a schema has to see them, too."""
SEEN = [case for case in CORPUS if case.kind in SHAPE and "longer than" not in case.says]
"""The longest duration is the one rule about shape that a pattern cannot hold."""


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """A validator of one of the schemas."""
    return jsonschema.Draft202012Validator(schemas.SCHEMAS[name]())


def data(text: bytes) -> Any:
    """The plain data of a document, as an editor sees it."""
    root, _ = parse(text)
    assert root is not None
    return plain(root)


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_the_committed_schema_is_current(name: str) -> None:
    """`chaosk schema NAME > schemas/NAME.schema.json` would change nothing."""
    assert (ROOT / f"schemas/{name}.schema.json").read_text(encoding="utf-8") == schemas.text(name)


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_it_is_a_schema(name: str) -> None:
    """Valid by the rules of JSON Schema 2020-12, and says that it is of that kind."""
    schema = schemas.SCHEMAS[name]()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == schemas.DIALECT
    assert schema["title"]


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_scenarios_fit(path: Path) -> None:
    """What the loader accepts, an editor accepts, variables included."""
    validator("scenario").validate(data(path.read_bytes()))


@pytest.mark.parametrize("path", sorted((ROOT / "inventory").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_inventories_fit(path: Path) -> None:
    """The example cluster and the lab."""
    validator("inventory").validate(data(path.read_bytes()))


def test_samples_fit() -> None:
    """The samples of the loader's tests."""
    validator("scenario").validate(data(SCENARIO.encode()))
    validator("inventory").validate(data(INVENTORY.encode()))


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
    defs = schemas.scenario()["$defs"]
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
    from chaosk.verdict import Guard, Outcome, Verdict

    verdict = Verdict(
        scenario="x", hypothesis="y", found=Outcome.INCONCLUSIVE, verdict=Outcome.INCONCLUSIVE, summary="z", began=1,
        wall=2, duration=3.0, guards=(Guard(guard="no_sends", what="nothing was sent"),), healed=True,
    )  # fmt: skip
    document = json.loads(verdict.model_dump_json())
    validator("verdict").validate(document)
    del document["healed"]
    assert not validator("verdict").is_valid(document)
    assert not validator("verdict").is_valid({**document, "healed": True, "found": "great"})
