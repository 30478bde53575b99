"""The scenarios of a gate: files and folders, filtered by words and by shards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from chaosk.core.errors import UsageError
from chaosk.document import DocumentError, load_variants
from chaosk.document.kinds import is_inventory, is_space
from chaosk.spec.scenario import Scalar, Scenario

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Chosen:
    """One scenario to run."""

    path: Path
    scenario: Scenario
    sets: Mapping[str, str]
    """The given variables that this scenario has."""
    variant: str = ""
    """Its variant's name; empty if the file has no variants."""
    differs: Mapping[str, Scalar] = field(default_factory=dict)
    """The values of the variables in which the file's variants differ."""


def choose(paths: Iterable[Path], sets: Mapping[str, str], only: Sequence[str], shard: tuple[int, int]) -> list[Chosen]:
    """Return the scenarios in files and folders, by path; raises UsageError for other files and empty selections.

    ``only``: keep those with one of these tags, ids in ``covers`` (``H`` is every ``H/…``), or a file or variant of
    this name (``leader-*``). ``shard``: keep the i-th of n parts, counted from 1.
    """
    every = _loaded(_files(paths), sets)
    _refuse_twins(every)
    wanted = [one for one in every if not only or any(_is_called(one, word) for word in only)]
    if not wanted:
        raise UsageError(
            f"--only {' --only '.join(only)}: none of {len(every)} scenarios has such a tag, id, file name or variant"
        )
    part, parts = shard
    chosen = wanted[part - 1 :: parts]
    if not chosen:
        raise UsageError(
            f"--shard {part}/{parts}: there are {len(wanted)} scenarios, so this part is empty; ask for fewer parts"
        )
    return chosen


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(each for each in path.rglob("*") if each.suffix in SUFFIXES and each.is_file())
        scenarios = [each for each in found if not is_inventory(each) and not is_space(each)]
        if not scenarios:
            raise UsageError(f"{path}: there is no scenario in it (*.yaml); name files, or another folder")
        yield from scenarios


def _loaded(files: Iterable[Path], sets: Mapping[str, str]) -> list[Chosen]:
    """Load all scenarios, or raise one error with the mistakes of all."""
    every: list[Chosen] = []
    problems, used = [], set[str]()
    for path in dict.fromkeys(files):
        try:
            known = {name for each in load_variants(path).values() for name in each.variables}
            own = {name: value for name, value in sets.items() if name in known}
            every += _variants(path, own)
            used |= own.keys()
        except DocumentError as error:
            problems.append(str(error))
    if problems:
        raise UsageError("\n".join(problems))
    if unused := [name for name in sets if name not in used]:
        raise UsageError(f"--set {unused[0]}: none of the scenarios has a variable of that name")
    return every


def _variants(path: Path, sets: Mapping[str, str]) -> Iterator[Chosen]:
    """Yield all variants of a file, each with the variables in which it differs from the others."""
    every = load_variants(path, sets)
    values = [one.variables for one in every.values()]
    for variant, one in every.items():
        differs = {name: own for name, own in one.variables.items() if any(other[name] != own for other in values)}
        yield Chosen(path, one, sets, variant, differs)


def _refuse_twins(every: Iterable[Chosen]) -> None:
    """Refuse two scenarios of one name: reports, folders and baselines could not distinguish them."""
    first: dict[str, Path] = {}
    for one in every:
        if (other := first.setdefault(one.scenario.name, one.path)) != one.path:
            raise UsageError(f"{one.path} and {other} have the same name, {one.scenario.name!r}; rename one of them")


def _is_called(one: Chosen, word: str) -> bool:
    return (
        word in one.scenario.tags
        or any(word in {each, each.partition("/")[0]} for each in one.scenario.covers)
        or fnmatch(one.path.stem, word)
        or _is_variant(one, word)
    )


def _is_variant(one: Chosen, word: str) -> bool:
    """Return True if its variant matches; a name is also compared literally, as it may contain brackets."""
    return one.variant != "" and (one.variant == word or fnmatch(one.variant, word))
