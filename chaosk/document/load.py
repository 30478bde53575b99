"""Files into scenarios and inventories; every mistake of a file is reported at once, with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from chaosk.core.model import Model
from chaosk.core.suggest import instead
from chaosk.document import nodes
from chaosk.document.blocks import misfits
from chaosk.document.choices import choices
from chaosk.document.draft import draft
from chaosk.document.explain import explain
from chaosk.document.foreign_files import stranger
from chaosk.document.inventories import inventory_references, jump_hosts, located
from chaosk.document.librdkafka_settings import client_settings
from chaosk.document.nodes import Node, Path, plain, scalars, spell
from chaosk.document.open_questions import open_questions
from chaosk.document.parse import Found, parse
from chaosk.document.problems import DocumentError, Problem, unreadable
from chaosk.document.references import references
from chaosk.document.rounds import unrolled
from chaosk.document.secrets import plain_secrets
from chaosk.document.shape import Variants, inventory_shape, lab_shape, scenario_shape
from chaosk.document.ssh_configs import configured
from chaosk.document.variables import BLOCK as VARIABLES
from chaosk.document.variables import defaults, substitute, uses
from chaosk.document.variants import Variant, clashes, listed, once, variants, varying
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Scenario, from_plain

EXPLORE = "explore"
"""The key of a space of sequences (``chaosk.campaign.explore.space_file``)."""

_NOTHING: Mapping[str, str] = {}


def load_scenario(path: FilePath, sets: Mapping[str, str] = _NOTHING, variant: str | None = None) -> Scenario:
    """Load the scenario in a file; ``sets`` overrides the defaults of its variables. Raises DocumentError.

    ``variant`` selects the scenario in a file with variants.
    """
    every = load_variants(path, sets)
    if (variant or "") in every:
        return every[variant or ""]
    if variant is None:
        what = f"holds variants; name one of them with --variant: {listed(every)}"
    elif "" in every:
        what = f"has no variants, so --variant {variant} names none; leave it out"
    else:
        what = f"there is no variant {variant!r}; {instead(variant, every)}"
    raise DocumentError([Problem(str(path), 1, 1, "", what)])


def load_variants(path: FilePath, sets: Mapping[str, str] = _NOTHING) -> dict[str, Scenario]:
    """Load the scenarios in a file by variant name; the only one of a file without variants has the name "".

    Raises DocumentError. A mistake that only some variants have is reported with their names.
    """
    return variants_in(path, read(path), sets)


def variants_in(path: FilePath, data: bytes, sets: Mapping[str, str] = _NOTHING) -> dict[str, Scenario]:
    """Load the scenarios in the bytes of a file, as :func:`load_variants`; messages refer to it as ``path``."""
    root, found = parse(data)
    if (other := stranger(data, root)) is not None:
        raise wrong(path, [other])
    if root is None:
        raise wrong(path, found)
    if isinstance(root, nodes.Mapping) and EXPLORE in root.keys:
        what = f"is a space of sequences, not a scenario; preview its sequences with: chaosk explore {path} --draw"
        raise wrong(path, [(root.keys[EXPLORE], (EXPLORE,), what)])
    found = merge_problems(merge_problems(found, empty(root)), misshapen(varying(root), Variants), defaults(root))
    every, more = variants(root)
    found = merge_problems(found, more)
    found = found or list(clashes(root, every, sets))
    checked = [(one, *_checked(root, found, sets, one)) for one in every or (Variant(),)]
    if found := [*found, *once((one, more) for one, _, more in checked)]:
        raise wrong(path, found)
    return {one.name: from_plain(Scenario, unrolled(own)) for one, own, _ in checked}


def _checked(root: Node, found: list[Found], sets: Mapping[str, str], one: Variant) -> tuple[Node, list[Found]]:
    """Return the document as it is for a variant, and its mistakes that are not in ``found`` yet."""
    before = one.alone(root)
    root, more = substitute(before, sets)
    known = merge_problems(found, more)
    return root, [*known, *examined(root, known, tainted(before, known))][len(found) :]


def tainted(root: Node, found: Iterable[Found]) -> list[Path]:
    """Return the paths of values that use a variable with a mistake."""
    return uses(root, {str(where[1]) for _, where, _ in found if where[:1] == (VARIABLES,) and where[1:]})


def examined(root: Node, known: list[Found], without: Iterable[Path]) -> list[Found]:
    """Return the mistakes in a scenario with replaced variables that are not in ``known`` yet.

    Mistakes at or below the paths ``without`` are left out.
    """
    spared = list(without)
    found = merge_problems(known, misfits(root), without=spared)
    shape = misshapen(root, scenario_shape())
    found = merge_problems(found, shape, choices(root), plain_secrets(root), without=spared)
    bad = [*spared, *(where for _, where, _ in found)]
    try:
        parts = draft(root, bad)
    except ValidationError:  # more mistakes than are reported at once, so some invalid parts were not left out
        return found[len(known) :]
    return merge_problems(found, references(parts), without=spared)[len(known) :]


def load_inventory(path: FilePath) -> Inventory | LabLayout:
    """Load the inventory in a file, or the lab that its only key ``lab`` describes. Raises DocumentError.

    Its relative file names are resolved against the folder of the file.
    """
    return inventory_in(path, read(path))


def inventory_in(path: FilePath, data: bytes) -> Inventory | LabLayout:
    """Load the inventory in the bytes of a file, as :func:`load_inventory`; messages refer to it as ``path``."""
    root, found = parse(data)
    if (other := stranger(data, root)) is not None:
        raise wrong(path, [other])
    lab = isinstance(root, nodes.Mapping) and "lab" in root.values
    if root is not None:
        found = merge_problems(found, open_questions(root), empty(root))
        shape = lab_shape() if lab else inventory_shape()
        found = merge_problems(found, jump_hosts(root))
        found = merge_problems(found, misshapen(root, shape), choices(root), plain_secrets(root))
        found = merge_problems(found, inventory_references(root), client_settings(root))
    if found or root is None:
        raise wrong(path, found)
    written: Any = plain(root)
    if lab:
        return from_plain(LabLayout, written["lab"])
    inventory, mistakes = configured(located(from_plain(Inventory, written), path.parent), root)
    if mistakes:
        raise wrong(path, mistakes)
    return inventory


def read(path: FilePath) -> bytes:
    """Return the bytes of a file, or only its first 2 MiB if it is too large. Raises DocumentError."""
    try:
        with path.open("rb") as file:
            return file.read(2 * 1024 * 1024)  # twice the limit: enough to detect the excess
    except OSError as error:
        raise unreadable(path, error) from error


def empty(root: Node) -> Iterator[Found]:
    """Yield keys and list items without a value, and calls that a comma in braces or brackets cut in two."""
    halves = [(path, node) for path, node in scalars(root) if _opens(node.value)]
    for path, node in halves:
        what = f'{node.text!r} ends at the comma; quote all of it, like "{node.text}, ...)"'
        yield node.place, path[:-1], what
    for path, node in scalars(root):
        if node.value is None and not (halves and str(path[-1]).endswith(")")):
            yield node.place, path, "has no value; write one, or remove the key"


def _opens(value: object) -> bool:
    """Return True if a value is the beginning of a call, up to its first comma."""
    return isinstance(value, str) and re.fullmatch(r"[a-z_]+\([^(),]*", value) is not None


def misshapen(root: Node, shape: type[Model]) -> list[Found]:
    """Return the mismatches between a document and the type of its kind."""
    try:
        shape.model_validate_json(json.dumps(plain(root)))
    except ValidationError as error:
        return explain(root, error, _schema(shape))
    return []


@cache
def _schema(shape: type[Model]) -> dict[str, Any]:
    return shape.model_json_schema()


def merge_problems(found: list[Found], *more: Iterable[Found], without: Iterable[Path] = ()) -> list[Found]:
    """Append ``more`` to ``found``, without consequences of earlier mistakes: those at the same path or below.

    Mistakes in ``more`` at or below the paths ``without`` are left out, too.
    """
    spoiled = [*without, *(path for _, path, _ in found if path)]
    later = [each for several in more for each in several]
    return [*found, *(each for each in later if not any(each[1][: len(path)] == path for path in spoiled))]


def wrong(path: FilePath, found: Iterable[Found]) -> DocumentError:
    """Return the error with all mistakes of a file."""
    return DocumentError(Problem(str(path), at.line, at.column, spell(where), what) for at, where, what in found)
