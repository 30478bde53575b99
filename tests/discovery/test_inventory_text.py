"""The text of an inventory: read back it has the values that were written."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chaosk.discovery.findings import Learned, Remark, Unlearned, Value
from chaosk.discovery.inventory_text import inventory_text
from chaosk.discovery.merge import InventoryDraft
from chaosk.document.nodes import plain
from chaosk.document.parse import parse

pytestmark = pytest.mark.pure
WORDS = st.text(st.characters(blacklist_categories=("Cc", "Cs", "Cn", "Co", "Zl", "Zp", "Cf")), min_size=1, max_size=30)


def draft(*facts: Learned, questions: tuple[Unlearned, ...] = (), remarks: tuple[Remark, ...] = ()) -> InventoryDraft:
    """A draft of these parts."""
    return InventoryDraft({one.place: one for one in facts}, {one.place: one for one in questions}, remarks)


def read(text: str) -> object:
    """What chaosk reads, which has to be without complaint."""
    root, found = parse(text.encode())
    assert root is not None, text
    assert found == [], text
    return plain(root)


@given(
    value=st.one_of(WORDS, st.integers(0, 10**9), st.booleans(), st.lists(WORDS, min_size=1).map(tuple)), source=WORDS
)
def test_a_value_survives(value: Value, source: str) -> None:
    """Any value that a source gives is read back, whatever is in it and in its comment."""
    text = inventory_text(draft(Learned(("client", "x"), value, source)))
    expected = {"client": {"x": list(value) if isinstance(value, tuple) else value}}
    assert read(text) == expected


@pytest.mark.parametrize("value", ["yes", "No", "0644", "1e3", "3.9.2", "3.10", "192.0.2.1", "22:30", "~", "null",
                                   "::1", "a: b", "a #b", "- a", "true", "1_000", "", "x'y\"z"])  # fmt: skip
def test_other_readers_of_yaml_read_the_same(value: str) -> None:
    """Words that YAML 1.1 takes for something else are quoted."""
    text = inventory_text(draft(Learned(("client", "x"), value, "somewhere")))
    assert yaml.safe_load(text) == {"client": {"x": value}}
    assert read(text) == {"client": {"x": value}}


def test_the_page_as_a_whole() -> None:
    """Blocks in the usual order, a comment behind each value, remarks above, questions in place."""
    found = draft(
        Learned(("client", "sasl.password", "env"), "P", "client.properties:3"),
        Learned(("brokers", "10", "host"), "b2", "its process runs there"),
        Learned(("brokers", "2", "listeners", "SASL", "port"), 9092, "advertised.listeners"),
        Learned(("brokers", "2", "listeners", "SASL", "address"), "b1", "advertised.listeners"),
        Learned(("brokers", "2", "host"), "b1", "its process runs there"),
        Learned(("hosts", "b1", "address"), "192.0.2.1", "of broker 2"),
        Learned(("name",), "staging", "--name"),
        questions=(Unlearned(("brokers", "10", "service"), 'how "is" it started?'),),
        remarks=(Remark(("hosts", "b1"), "Debian"),),
    )
    assert inventory_text(found, ["As found."]) == Path(__file__).with_name("page.yaml").read_text("utf-8")
