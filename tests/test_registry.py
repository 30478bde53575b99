"""Plugins are files: what is found, under which name, and what stops the program."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from chaosk.core import plugins
from chaosk.core.errors import ExitCode, UsageError
from chaosk.spec.contracts.condition import Condition
from chaosk.spec.contracts.probe import Probe
from chaosk.spec.contracts.step import Step
from chaosk.spec.contracts.target import Target

ROOT = Path(__file__).parents[1]
CONTRACTS = {"steps": Step, "probes": Probe, "cluster.targets": Target, "cluster.conditions": Condition}

GOOD = '''
from typing import ClassVar
from chaosk.spec.contracts.target import Node, Scene, Target

class Nobody(Target):
    """Nobody."""

    spelling: ClassVar[str] = "nobody"
    example: ClassVar[str] = "nobody"

    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        return ()
'''


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose modules are offered as targets, or as steps, of somebody else."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def entries(group: str) -> list[SimpleNamespace]:
        offered = group in {"chaosk.targets", "chaosk.steps"}
        names = sorted(path.stem for path in tmp_path.glob("*.py")) if offered else []
        return [SimpleNamespace(value=name, load=lambda name=name: import_module(name)) for name in names]

    monkeypatch.setattr(plugins, "entry_points", entries)
    plugins.discover.cache_clear()
    yield tmp_path
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)
    plugins.discover.cache_clear()


@pytest.mark.parametrize(("package", "contract"), CONTRACTS.items(), ids=CONTRACTS)
def test_every_file_is_a_plugin_by_its_name(package: str, contract: type) -> None:
    """The files of the package without a leading underscore; each class knows its name, also that of a further form."""
    files = sorted(path.stem for path in (ROOT / "chaosk" / package.replace(".", "/")).glob("[!_]*.py"))
    found = plugins.discover(f"chaosk.{package}", contract)
    assert list(found) == sorted(found)
    assert sorted({plugins.file_of(plugin) for plugin in found.values()}) == files
    assert all(plugins.name_of(plugin) == name for name, plugin in found.items())


def test_a_module_of_somebody_else_is_found(foreign: Path) -> None:
    """Through the entry-point group, beside our own."""
    (foreign / "nobody.py").write_text(GOOD, encoding="utf-8")
    found = plugins.discover("chaosk.cluster.targets", Target)
    assert found["nobody"].__name__ == "Nobody"
    assert "leader" in found


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "defines 0 classes that are a Target"),
        ("class Nobody: pass", "defines 0 classes"),
        ("from chaosk.cluster.targets.leader import Leader", "defines 0 classes"),
        (GOOD + "\n\nclass Other(Nobody): pass\n", "defines 2 classes"),
        ("from chaosk.spec.contracts.target import Target\n\nclass Unfinished(Target): pass\n", "defines 0 classes"),
    ],
    ids=["empty", "no target", "only imported", "two", "abstract"],
)
def test_a_file_that_fits_no_contract_stops_the_program(foreign: Path, source: str, says: str) -> None:
    """With its name: a plugin that is silently not there would be a step that silently does nothing."""
    (foreign / "nobody.py").write_text(source, encoding="utf-8")
    with pytest.raises(UsageError, match=rf"^nobody: {says}.*exactly one") as caught:
        plugins.discover("chaosk.cluster.targets", Target)
    assert caught.value.exit_code is ExitCode.USAGE


def test_a_class_that_is_not_complete_is_told_its_missing_methods(foreign: Path) -> None:
    """A class is there, so "0 classes" alone would be a riddle: a method of the contract is missing."""
    source = "from chaosk.spec.contracts.target import Target\n\nclass Unfinished(Target): pass\n"
    (foreign / "nobody.py").write_text(source, encoding="utf-8")
    with pytest.raises(UsageError, match=r"; Unfinished is not complete: define resolve$"):
        plugins.discover("chaosk.cluster.targets", Target)


STEP = '''
from chaosk.spec.contracts.step import Step

class Nobody(Step):
    """Hit somebody."""

    lasting = False
    example = "nobody: {who: broker 0}"
    FIELD

    def inject(self, site): yield from ()
    def verify(self, site): yield from ()
'''


@pytest.mark.parametrize("field", ["who: str", "target: list[str]"])
def test_a_step_that_does_not_say_whom_it_hits_stops_the_program(foreign: Path, field: str) -> None:
    """Without targets no limit would count its harm: only a field `target` says it by itself."""
    (foreign / "nobody.py").write_text(STEP.replace("FIELD", field), encoding="utf-8")
    with pytest.raises(UsageError, match="nobody: Nobody is not complete: define targets, or `target: str`"):
        plugins.discover("chaosk.steps", Step)


def test_a_name_that_is_taken(foreign: Path) -> None:
    """Nobody can replace a target of ours, or somebody else's, by accident."""
    (foreign / "leader.py").write_text(GOOD, encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"leader: there is a 'leader' already \(chaosk\.cluster\.targets\.leader\); rename"
    ):
        plugins.discover("chaosk.cluster.targets", Target)


def test_an_entry_point_that_names_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class or function where a module belongs is said to be one."""
    entry = SimpleNamespace(value="x:Y", load=object)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [entry])
    plugins.discover.cache_clear()
    with pytest.raises(UsageError, match=r"x:Y: an entry point of chaosk\.targets must name a module, not object"):
        plugins.discover("chaosk.cluster.targets", Target)
    monkeypatch.undo()
    plugins.discover.cache_clear()


@pytest.mark.parametrize("source", ["import nowhere_to_be_found", "1 / 0", "def broken(:"])
def test_a_module_that_cannot_be_imported(foreign: Path, source: str) -> None:
    """Whatever it raises is one clear error with its name, no traceback of ours."""
    (foreign / "nobody.py").write_text(source, encoding="utf-8")
    with pytest.raises(UsageError, match=r"^nobody: the plugin cannot be imported: "):
        plugins.discover("chaosk.cluster.targets", Target)
