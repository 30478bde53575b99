"""YAML text into nodes: places, and what is never built."""

from __future__ import annotations

import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chaosk.document.nodes import Mapping, Scalar, Sequence, SourcePosition, child, descend, plain, scalars, spell
from chaosk.document.parse import MOST_FOUND, MOST_VALUES, parse
from chaosk.document.source import LARGEST

TEXT = """\
name: a
list:
  - 1
  - {x: "2", y: [true]}
"""


def test_data_is_what_yaml_says() -> None:
    """The plain data of a document, quotes respected."""
    root, found = parse(TEXT.encode())
    assert root is not None
    assert plain(root) == {"name": "a", "list": [1, {"x": "2", "y": [True]}]}
    assert found == []


def test_every_key_and_value_has_its_place() -> None:
    """Lines and columns from 1, of keys and of values."""
    root, _ = parse(TEXT.encode())
    assert isinstance(root, Mapping)
    assert root.keys["list"] == SourcePosition(2, 1)
    value = descend(root, ("list", 1, "y", 0))
    assert isinstance(value, Scalar)
    assert value.place == SourcePosition(4, 18)
    inner = descend(root, ("list", 1))
    assert isinstance(inner, Mapping)
    assert inner.keys["y"] == SourcePosition(4, 14)


def test_columns_count_characters() -> None:
    """A column is what an editor shows, not a number of bytes."""
    root, _ = parse("{ä: ö, ü: x}".encode())
    assert isinstance(root, Mapping)
    assert root.values["ü"].place == SourcePosition(1, 11)


def test_nothing_leads_nowhere() -> None:
    """A path that is not in the document gives nothing, whatever stands in its way."""
    root, _ = parse(TEXT.encode())
    assert root is not None
    for path in (("no",), ("name", "x"), ("list", 7), ("list", "x"), ("list", 0, 0), ("list", -1)):
        assert descend(root, path) is None
    assert child(Sequence(SourcePosition(1, 1), ()), 0) is None


def test_paths_are_spelled_as_one_would_say_them() -> None:
    """Keys with dots between, list places in brackets from 0."""
    assert spell(("timeline", 0, "kill_broker", "target")) == "timeline[0].kill_broker.target"
    assert spell(()) == ""
    assert spell(("a", "x" * 200)) == f"a.{'x' * 80}…", "a message is to be read"
    root, _ = parse(TEXT.encode())
    assert root is not None
    assert [spell(path) for path, _ in scalars(root)] == ["name", "list[0]", "list[1].x", "list[1].y[0]"]


def test_problems_of_one_file_come_together() -> None:
    """What is wrong as YAML does not stop reading unless nothing can follow."""
    root, found = parse(b"a: !!str 1\nb: &x 2\nc: *x\na: 3\nd: 0o7\n<<: {e: 1}\n")
    assert isinstance(root, Mapping)
    assert sorted(place.line for place, _, _ in found) == [1, 2, 3, 4, 5, 6]
    assert plain(root.values["a"]) == 1, "the first of two equal keys is kept"


def test_alias_bomb_costs_nothing() -> None:
    """Aliases are never expanded: the classic bomb is a list of complaints, not gigabytes."""
    bomb = 'a: &a ["x","x"]\n' + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)},*{chr(97 + n)}]\n" for n in range(20)
    )
    root, found = parse(bomb.encode())
    assert root is not None
    assert len(list(scalars(root))) < 50
    assert found


def test_python_objects_are_never_built(capfd: pytest.CaptureFixture[str]) -> None:
    """A tag that would run code in a careless loader is a complaint and nothing else."""
    _, found = parse(b"a: !!python/object/apply:os.system ['echo owned']\n")
    assert "tags" in found[0][2]
    assert "owned" not in capfd.readouterr().out


def test_exactly_the_largest_file_is_read() -> None:
    """The limit is the limit: one byte more is too much."""
    filler = b"a: b\n#" + b"x" * (LARGEST - 6)
    assert parse(filler)[1] == []
    assert "1 MiB" in parse(filler + b"x")[1][0][2]


BOMBS = {
    "many keys": "".join(f"k{number}: 1\n" for number in range(80_000)),
    "a long list": "[" + "1," * 500_000 + "]",
    "the same key again and again": "a: 1\n" * 150_000,
    "many aliases": "x: [" + "*a, " * 200_000 + "]\n",
    "one long value": "a: " + "x" * 1_000_000,
    "one long quoted value": 'a: "' + "\\n" * 500_000 + '"',
    "one long key": "x" * 1_000 + ": 1\n",
    "many short values deep inside": "{a: " * 30 + "[" + "1," * 400_000 + "]" + "}" * 30,
    "many empty documents": "---\n" * 200_000,
    "many tags": "a: [" + "!t x, " * 150_000 + "]",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_bombs_go_out_at_once(text: str) -> None:
    """However much there is in a file of a mebibyte: reading stops after what a person could have written."""
    began = time.process_time()
    root, found = parse(text.encode())
    assert time.process_time() - began < 6, "to parse all of it takes eleven; a stolen processor counts as ours"
    assert len(found) <= MOST_FOUND + 2
    assert root is None or len(list(scalars(root))) <= MOST_VALUES
    assert found or text.startswith("xxx")


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_give_nodes_or_problems(data: bytes) -> None:
    """No file makes it raise: there is a document, or something is wrong with it, with a place inside."""
    root, found = parse(data)
    assert root is not None or found
    assert all(place.line >= 1 and place.column >= 1 for place, _, _ in found)


_KEYS = st.from_regex(r"[a-z][a-z_.-]{0,8}", fullmatch=True).filter(lambda key: key not in {"null", "true", "false"})
_VALUES = st.integers(-1000, 1000) | st.booleans() | st.text(alphabet="ab c:#{}[],'\"&*!|>%@`yesno0.", max_size=15)
_DATA: st.SearchStrategy[Any] = st.recursive(
    _VALUES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4), max_leaves=20
)


@given(st.dictionaries(_KEYS, _DATA, min_size=1, max_size=5), st.booleans())
def test_documents_of_another_writer_read_back(data: dict[str, Any], flow: bool) -> None:  # noqa: FBT001
    """What PyYAML writes, in block or flow style, reads back as the same data."""
    root, found = parse(yaml.safe_dump(data, default_flow_style=flow).encode())
    disputed = [what for _, _, what in found if "different" in what or "anchors" in what or "aliases" in what]
    assert len(disputed) == len(found)
    assert disputed or (root is not None and plain(root) == data)
