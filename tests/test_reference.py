"""The reference: made from the code, kept in the tree, and about everything there is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from sample_documents import written

from chaosk.cli import _reference
from chaosk.core.errors import UsageError
from chaosk.document import load_scenario, load_variants
from chaosk.spec.expression import conditions, targets
from chaosk.spec.metrics import METRICS
from chaosk.spec.scenario import probes, steps

ROOT = Path(__file__).parents[1]
HEAD = """\
name: x
hypothesis: y
topics: {orders: {partitions: 6}, invoices: {partitions: 6}}
probes:
  writer: {produce: {topic: orders}}
  reader: {consume: {topic: orders, group: readers}}
"""
EVERY_KIND = """\
  asker: {call: {operation: metadata}}
  knocker: {health_check: {rate: 1/s}}
  watched: {consume: {topic: orders, group: others, connections: true, failing: {every: 9, handling: swallow}}}
"""
"""Probes that have the figures which a writer and a reader have not."""


@pytest.mark.parametrize("kind", _reference.KINDS)
def test_the_committed_reference_is_current(kind: str) -> None:
    """`chaosk list KIND --markdown > docs/reference/KIND.md` would change nothing."""
    assert (ROOT / f"docs/reference/{kind}.md").read_text(encoding="utf-8") == _reference.markdown(kind)


KNOWN: dict[str, Iterable[str]] = {
    "steps": steps(), "probes": probes(), "targets": targets(), "conditions": conditions(), "metrics": METRICS,
}  # fmt: skip


@pytest.mark.parametrize("kind", KNOWN)
def test_everything_there_is_has_a_page(kind: str) -> None:
    """Every file has its page, with words, an example, and words for every field."""
    pages = _reference.pages(kind)
    assert [page.name for page in pages] == sorted(KNOWN[kind])
    for page in pages:
        assert page.summary, page.name
        assert page.example, page.name
        assert all(field.says and field.kind for field in page.fields), page.name


@pytest.mark.parametrize("name", steps())
def test_the_example_of_a_step_can_be_copied(tmp_path: Path, name: str) -> None:
    """It is a timeline entry that loads, of that very step."""
    entry = "".join(f"    {line}\n" for line in _reference.page("steps", name).example.splitlines())
    scenario = load_scenario(written(tmp_path, f"{HEAD}timeline:\n  -\n{entry}"))
    assert scenario.timeline[0].kind == name


@pytest.mark.parametrize("name", probes())
def test_the_example_of_a_probe_can_be_copied(tmp_path: Path, name: str) -> None:
    """It is the value of a probe's name, and loads."""
    probe = "".join(f"    {line}\n" for line in _reference.page("probes", name).example.splitlines())
    document = f"{HEAD}  sample:\n{probe}timeline:\n  - wait: {{duration: 1s}}\n"
    assert "sample" in load_scenario(written(tmp_path, document)).probes


@pytest.mark.parametrize("name", METRICS)
def test_the_example_of_a_metric_can_be_copied(tmp_path: Path, name: str) -> None:
    """It is an `expect` block that loads, where somebody has the figure."""
    timeline = 'timeline:\n  - restart_broker: {target: "leader(orders, 0)"}\n'
    document = f"{HEAD}{EVERY_KIND}{timeline}{_reference.page('metrics', name).example}"
    assert name in load_scenario(written(tmp_path, document)).expect.bounds


def test_fields_are_told_in_words() -> None:
    """Kinds, choices, ranges, examples and defaults as they would be written."""
    fields = {field.name: field for field in _reference.page("probes", "produce").fields}
    assert (fields["topic"].kind, fields["topic"].default) == ("text", "")
    assert fields["size"].default == "100B"
    assert fields["config"].kind == "mapping of names to single value"
    cut = {field.name: field for field in _reference.page("steps", "cut_network").fields}
    assert cut["direction"].kind == "`both`, `in`, `out`"
    assert cut["between"].kind == "list of 2, each text, or list of text"
    assert cut["ports"].kind == "list of whole number from 1 to 65535"


def test_unknown_names_get_the_nearest() -> None:
    """Of kinds and of pages."""
    with pytest.raises(UsageError, match="did you mean 'steps'"):
        _reference.pages("step")
    with pytest.raises(UsageError, match="did you mean 'kill_broker'"):
        _reference.page("steps", "kil_broker")


def test_tables_survive_pipes_and_line_breaks() -> None:
    """A cell stays one cell, whatever its text holds."""
    text = _reference.markdown("targets")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(row.replace("\\|", "").count("|") in {3, 5} for row in rows)


def test_paragraphs_flow_and_tables_do_not() -> None:
    """Line breaks inside a paragraph go, those of lists and indented text stay."""
    assert _reference.flowing("One\ntwo.\n\n- a\n- b\n\nThree\nfour.") == "One two.\n\n- a\n- b\n\nThree four."


def test_examples_in_the_guide_are_right(tmp_path: Path) -> None:
    """The scenario at the top of docs/scenario.md loads, and so does each later block added to it, or in its place."""
    text = (ROOT / "docs/scenario.md").read_text(encoding="utf-8")
    whole, *added, variants, matrix = (part.split("```")[0] for part in text.split("```yaml\n")[1:])
    scenario = load_scenario(written(tmp_path, whole))
    assert [entry.name for entry in scenario.timeline] == ["kill", "elect"]
    top = yaml.safe_load(whole)
    for block in map(yaml.safe_load, added):
        of_timeline = ("expect", "variables") if "timeline" in block else ()
        document = {key: value for key, value in top.items() if key not in of_timeline} | block
        assert set(load_scenario(written(tmp_path, yaml.safe_dump(document))).expect.bounds) <= METRICS.keys()
    for old, new in (
        ("variables:\n  down: 30s\n", variants), ("${down}", "30s"),
        ("lost_records: 0", "uncertain_records: {min: '${given_up}', max: 9000}"),
        ("min.insync.replicas: 2", "min.insync.replicas: '${min_isr}'"),
        ("acks: all, enable.idempotence: true", "acks: '${acks}', retries: '${retries}', enable.idempotence: false"),
    ):  # fmt: skip
        assert old in whole
        whole = whole.replace(old, new)
    assert list(load_variants(written(tmp_path, whole))) == ["without-retries", "with-retries"]
    combined = whole.replace(variants[variants.index("variants:") :], matrix)
    assert next(iter(load_variants(written(tmp_path, combined)))) in text
    assert len(load_variants(written(tmp_path, combined))) == 4


def test_the_guide_names_every_key() -> None:
    """Each key of a scenario and of a timeline entry is in the guide's tables."""
    text = (ROOT / "docs/scenario.md").read_text(encoding="utf-8")
    schema = yaml.safe_load((ROOT / "schemas/scenario.schema.json").read_text(encoding="utf-8"))
    blocks = schema["$defs"]["Repeat"]["properties"]
    for key in (*schema["properties"], *(schema["$defs"]["Entry"]["properties"].keys() - steps().keys()), *blocks):
        assert f"`{key}`" in text, key
