"""Run one benchmark of this folder, or list them: what ``./dev bench [NAME] [ARGS...]`` calls."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent


def benchmarks() -> dict[str, Path]:
    """By name, every benchmark: a file of this folder that does not start with ``_``."""
    return {path.stem: path for path in sorted(HERE.glob("*.py")) if not path.stem.startswith("_")}


def headline(path: Path) -> str:
    """The first line of a file's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "(no docstring)"
    return docstring.splitlines()[0]


def main(words: list[str]) -> int:
    """List the benchmarks, or run the one that is named first with the other words as its arguments; the exit code."""
    known = benchmarks()
    if not words:
        width = max((len(name) for name in known), default=0)
        print("\n".join(f"{name:{width}}  {headline(path)}" for name, path in known.items()) or "no benchmarks yet")
        return 0
    name, *arguments = words
    if name not in known:
        print(f"there is no benchmark {name!r}; known: {', '.join(known) or 'none yet'}", file=sys.stderr)
        return 64
    sys.argv = [str(known[name]), *arguments]
    sys.path.insert(0, str(HERE))
    runpy.run_path(str(known[name]), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
