"""The drawing of chaosk's rooms in docs/architecture.md: docs/pictures/rooms.svg.

``./dev bench rooms``. The arrows are the imports of the code, as import-linter's own library finds them, without those
that a longer way of arrows implies. A room stands as low as its imports allow.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import grimp
import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent.parent
PURPOSE = {
    "cli": "commands; prints and exits",
    "campaign": "many runs: gate, explore, history",
    "run": "one run: faults, probes, healing",
    "discovery": "a cluster to its inventory",
    "document": "YAML to typed values",
    "report": "a verdict as pages",
    "lab": "test clusters on this machine",
    "planning": "scenario and inventory to a plan",
    "steps": "the faults, one file each",
    "cluster": "facts over Kafka's protocol",
    "probes": "the clients under test",
    "analysis": "events to verdict, PySpark",
    "hosts": "commands, leases, SSH",
    "spec": "what users write, typed",
    "rundir": "the files of a run",
    "core": "errors, units, plugins",
}
"""Rooms of one row stand in this order."""
WIDE, TALL, GAP = 2.7, 0.55, 0.4
"""A box and the space below it, in inches."""
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none", "svg.hashsalt": "chaosk", "font.family": "sans-serif", "font.size": 9,
}  # fmt: skip


def imports() -> dict[str, set[str]]:
    """By room, the rooms that it imports."""
    graph = grimp.build_graph("chaosk")
    found: dict[str, set[str]] = defaultdict(set)
    for module in graph.modules:
        importer = room(module)
        found[importer] |= {room(other) for other in graph.find_modules_directly_imported_by(module)} - {importer}
    return {importer: found[importer] - {""} for importer in found if importer in PURPOSE}


def room(module: str) -> str:
    """The room of a module; empty for the package itself."""
    return [*module.split("."), ""][1]


def direct(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """The edges that no longer way implies (the transitive reduction)."""

    def reached(starts: Iterable[str]) -> set[str]:
        seen, waiting = set[str](), list(starts)
        while waiting:
            if (current := waiting.pop()) not in seen:
                seen.add(current)
                waiting += graph.get(current, set())
        return seen

    return sorted(
        (importer, imported) for importer, all_imported in graph.items() for imported in all_imported
        if imported not in {other for between in all_imported - {imported} for other in reached([between])}
    )  # fmt: skip


def rows(edges: list[tuple[str, str]]) -> list[list[str]]:
    """The rooms by their longest way down, highest first."""

    def height(name: str) -> int:
        return max((1 + height(imported) for importer, imported in edges if importer == name), default=0)

    by_height: dict[int, list[str]] = defaultdict(list)
    for name in PURPOSE:
        by_height[height(name)].append(name)
    return [by_height[number] for number in sorted(by_height, reverse=True)]


def drawing() -> str:
    """Boxes in rows, and arrows between them, as SVG."""
    edges = direct(imports())
    drawn = rows(edges)
    width, height = 3 * (WIDE + 0.3), len(drawn) * (TALL + GAP)
    centre = {}
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(width, height))
        FigureCanvasSVG(figure)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height), frame_on=False)
        axes.set_axis_off()
        for number, row in enumerate(drawn):
            y = height - (number + 0.5) * (TALL + GAP)
            for column, name in enumerate(row):
                centre[name] = (width / 2 + (column - (len(row) - 1) / 2) * (WIDE + 0.3), y)
        for importer, imported in edges:
            arrow(axes, centre[importer], centre[imported])
        for name, place in centre.items():
            box(axes, place, name)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return out.getvalue()


def box(axes: Axes, centre: tuple[float, float], name: str) -> None:
    """One room with its purpose."""
    axes.annotate(
        f"{name}/\n{PURPOSE[name]}", centre, ha="center", va="center",
        bbox={"boxstyle": "round,pad=0.5", "facecolor": "#eef4fa", "edgecolor": "#12508a"},
    )  # fmt: skip


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """An import, from the lower edge of one box to the upper edge of another."""
    axes.annotate(
        "", (end[0], end[1] + TALL / 2), (start[0], start[1] - TALL / 2),
        arrowprops={"arrowstyle": "-|>", "color": "#5a6672", "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip


if __name__ == "__main__":
    target = HERE / "docs/pictures/rooms.svg"
    text = "\n".join(line.rstrip() for line in drawing().splitlines()) + "\n"
    target.write_text(text, "utf-8")
    print(f"{target.relative_to(HERE)}: {len(text):,} bytes")
