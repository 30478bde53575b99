"""The scenarios and the example inventories that come with chaosk: in its package, or beside it in a checkout."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import chaosk
from chaosk.core.errors import UsageError
from chaosk.core.suggest import instead
from chaosk.document.load import read
from chaosk.document.nodes import Mapping, Scalar
from chaosk.document.parse import parse

_PACKAGE = Path(chaosk.__file__).parent


def folder(kind: str) -> Path:
    """Return the folder of ``scenarios`` or ``inventory``; a wheel has them in its package."""
    inside = _PACKAGE / "examples" / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind


def scenarios() -> dict[str, Path]:
    """Return the files of all scenarios by name, like ``brokers/kill-the-leader``; without spaces of sequences."""
    root = folder("scenarios")
    files = sorted(path for path in root.rglob("*.yaml") if path.parent != root / "explore")
    return {str(path.relative_to(root).with_suffix("")): path for path in files}


def chosen(names: Iterable[str]) -> dict[str, Path]:
    """Return the scenarios of these names or folders; all without a name. Raises UsageError for an unknown one."""
    every = scenarios()
    found: dict[str, Path] = {}
    for text in names:
        name = text.removesuffix(".yaml").removeprefix("scenarios/").rstrip("/")
        here = {
            one: path for one, path in every.items() if name in (one, one.rpartition("/")[2], one.rpartition("/")[0])
        }
        if not here:
            raise UsageError(f"{text}: chaosk comes with no such scenario; {instead(name, every)}")
        found |= here
    return found or every


def title(path: Path) -> str:
    """Return the name that a scenario has in its file."""
    root, _ = parse(read(path))
    name = root.values.get("name") if isinstance(root, Mapping) else None
    return str(name.value) if isinstance(name, Scalar) else ""


def text_of(path: Path) -> str:
    """Return a file's text without the link to a schema that only a checkout has."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("# yaml-language-server:"))
