"""The shape of a scenario file: made of what there is, plugins included."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from sample_documents import SCENARIO, spoil, written

from chaosk.cli import _json_schemas
from chaosk.core import plugins
from chaosk.document import DocumentError, load, load_scenario, shape
from chaosk.spec.scenario import Entry, probes, steps

PLUGIN = '''
"""A step of somebody else."""
from collections.abc import Iterator
from typing import Annotated, ClassVar
from pydantic import Field
from chaosk.spec.contracts.step import Deed, Fact, Pause, Site, Step

class Whistle(Step):
    """Whistle a tune."""

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = "whistle: {tune: blue}"
    tune: str
    """Which."""
    times: Annotated[int, Field(ge=1)] = 1
    """How often."""

    def targets(self) -> tuple[str, ...]:
        return ()

    def inject(self, site: Site) -> Iterator[Deed]:
        yield Pause(seconds=0.1)

    def verify(self, site: Site) -> Iterator[Fact]:
        yield from ()
'''


@pytest.fixture
def whistle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A step of a third party, found through its entry point."""
    (tmp_path / "whistle.py").write_text(PLUGIN, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = SimpleNamespace(value="whistle", load=lambda: import_module("whistle"))
    monkeypatch.setattr(plugins, "entry_points", lambda group: [entry] if group == "chaosk.steps" else [])
    _forget()
    yield
    monkeypatch.undo()
    sys.modules.pop("whistle", None)
    _forget()


def _forget() -> None:
    plugins.discover.cache_clear()
    shape.scenario_shape.cache_clear()
    load._schema.cache_clear()


WHISTLE = spoil(SCENARIO, "elect_leader: {topic: orders, election: preferred}", "whistle: {tune: blue}")


@pytest.mark.usefixtures("whistle")
def test_a_step_of_somebody_else_can_be_written(tmp_path: Path) -> None:
    """Its name and fields are known like those of our own, and it reads back from a plan."""
    scenario = load_scenario(written(tmp_path, WHISTLE))
    entry = scenario.timeline[1]
    assert (entry.kind, entry.name) == ("whistle", "whistle-2")
    assert Entry.model_validate_json(entry.model_dump_json(by_alias=True)) == entry


@pytest.mark.usefixtures("whistle")
@pytest.mark.parametrize(
    ("new", "says"),
    [
        ("{tune: 5}", "tune: must be text"),
        ("{tune: a, times: 0}", "times: the number 0 is too small"),
        ("{tone: a}", "tone: there is no 'tone' here; did you mean 'tune'?"),
        ("{}", "'tune' is missing; add `tune:` (Which)"),
    ],
)
def test_its_mistakes_are_reported_like_those_of_our_own(tmp_path: Path, new: str, says: str) -> None:
    """In the same words, at the same kind of place."""
    with pytest.raises(DocumentError) as caught:
        load_scenario(written(tmp_path, WHISTLE.replace("{tune: blue}", new)))
    assert len(caught.value.problems) == 1
    assert says in str(caught.value)


@pytest.mark.usefixtures("whistle")
def test_it_is_in_the_schema() -> None:
    """An editor offers it, too."""
    properties = _json_schemas.scenario()["$defs"]["Entry"]["properties"]
    assert properties["whistle"]["$ref"] == "#/$defs/Whistle"


def test_without_the_plugin_it_is_unknown(tmp_path: Path) -> None:
    """The same file on a machine without the plugin: the name is not known there."""
    with pytest.raises(DocumentError, match="there is no 'whistle' here"):
        load_scenario(written(tmp_path, WHISTLE))


def test_entries_have_the_grammar_and_every_step() -> None:
    """Nothing is written by hand: a new step is a key of an entry at once."""
    defs = shape.scenario_shape().model_json_schema()["$defs"]
    grammar = {"name", "at", "after", "when", "timeout", "for"}
    assert defs["Entry"]["properties"].keys() == grammar | steps().keys()
    assert defs["Probe"]["properties"].keys() == probes().keys()
