"""Names of classes and modules: one name is one thing."""

from __future__ import annotations

import ast
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import pytest

PACKAGE = Path(__file__).parent.parent / "chaosk"

SHARED_CLASSES: dict[str, str] = {}
"""Class names that may be defined in several files, each with the contract that all of them implement."""

LANGUAGE = (
    "analysis/checks",
    "cluster/conditions",
    "cluster/stop_conditions",
    "cluster/targets",
    "probes",
    "steps",
)
"""Folders whose public modules are words of the scenario language: `broker` and `brokers` are two targets."""

SHARED_STEMS = {
    frozenset({"cluster/brokers", "cluster/targets/broker"}): "the target is a word of the language",
    frozenset({"cluster/reassignment", "cluster/conditions/reassigning"}): "the condition is a word of the language",
    frozenset({"cluster/zookeeper", "cluster/targets/zookeepers"}): "the target is a word of the language",
}
"""Pairs of modules of one room whose names differ in grammar only, each with why it stays."""

ENDINGS = (
    *("ations", "ments", "isons"),
    *("ation", "ment", "ions", "ings", "ages", "ison"),
    *("ion", "ing", "ied", "ies", "age", "ers", "ics"),
    *("ed", "er", "es", "ic"),
    *("s", "e", "y"),
)
"""What grammar puts at the end of an English word; the longest comes first."""
SHORTEST = 3
"""Letters of a word that an ending leaves at least."""


def stem(name: str) -> str:
    """Reduce a module's name to what is left without underscores before it and endings of its words."""
    return "_".join(_stem(word) for word in name.strip("_").split("_"))


def _stem(word: str) -> str:
    endings = (each for each in ENDINGS if word.endswith(each) and len(word) - len(each) >= SHORTEST)
    return word.removesuffix(next(endings, ""))


def defined() -> Iterator[tuple[str, str]]:
    """Yield every class of the program, by name and file."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield node.name, path.relative_to(PACKAGE).as_posix()


def modules() -> tuple[str, ...]:
    """Every module and package of the program, as a path below it without the ending."""
    found = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    names = {(path.parent if path.name == "__init__.py" else path.with_suffix("")).as_posix() for path in found}
    return tuple(sorted(name for name in names if "/" in name and not name.endswith("__main__")))


def in_language(module: str) -> bool:
    """Whether a module's name is a word that users write."""
    path = PurePosixPath(module)
    return path.parent.as_posix() in LANGUAGE and not path.name.startswith("_")


def pairs(names: Iterable[str]) -> Iterator[frozenset[str]]:
    """Yield two modules of one room at a time whose names have the same stem and are not the same."""
    by_stem = defaultdict(list)
    for name in names:
        path = PurePosixPath(name)
        by_stem[path.parts[0], stem(path.name)].append(path)
    for paths in by_stem.values():
        for one, other in itertools.combinations(paths, 2):
            if one.name != other.name and not (in_language(str(one)) and in_language(str(other))):
                yield frozenset({str(one), str(other)})


def test_no_class_name_is_in_two_files() -> None:
    """A reader who searches for a class finds one; exceptions that are none any more have to go."""
    files = defaultdict(set)
    for name, file in defined():
        files[name].add(file)
    assert {name: sorted(paths) for name, paths in files.items() if len(paths) > 1 and name not in SHARED_CLASSES} == {}
    assert [name for name in SHARED_CLASSES if len(files[name]) < 2] == []


def test_no_two_modules_of_a_room_differ_in_grammar_only() -> None:
    """A room is a folder on the first level; exceptions that are none any more have to go."""
    assert set(pairs(modules())) == set(SHARED_STEMS)


@pytest.mark.parametrize(
    "names",
    [
        ("coverage", "covered"),
        ("comparison", "compared"),
        ("history", "historic"),
        ("consume", "_consuming"),
        ("call", "_calling"),
        ("health_check", "health_checks"),
        ("check", "_check", "_checking"),
        ("transaction", "_transacting"),
        ("tally", "_tally", "tallied", "tallies"),
        ("clock", "clocked"),
        ("gate", "_gate"),
        ("kind", "kinds"),
        ("reassign", "reassigning", "reassignment"),
        ("reading", "readers"),
    ],
)
def test_grammar_has_no_part_in_a_stem(names: tuple[str, ...]) -> None:
    """Participles, plurals and underscores of one word are one."""
    assert len({stem(name) for name in names}) == 1


@pytest.mark.parametrize(
    "names",
    [
        ("coverage", "coverage_view"),
        ("consume", "_consume_loop"),
        ("place", "plan"),
        ("lease", "leader"),
        ("log", "lag"),
    ],
)
def test_other_words_have_other_stems(names: tuple[str, str]) -> None:
    """A word more, or another word, is another name."""
    assert stem(names[0]) != stem(names[1])
