"""The pictures of the documentation, drawn of the sample run that the report's tests use: docs/pictures/.

``./dev bench pictures``: needs no cluster, and draws the same bytes each time.
"""

from __future__ import annotations

import dataclasses
import io
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from rich.console import Console

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE / "tests"))

from sample_run import Shape, lost, outages, sample_run, verdict  # noqa: E402 - the tests' own

from chaosk import report  # noqa: E402 - as above
from chaosk.report import figure, source, timeline  # noqa: E402 - as above
from chaosk.rundir.paths import RunDir  # noqa: E402 - as above
from chaosk.rundir.verdict import Outcome, Severity  # noqa: E402 - as above

TERMINAL = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""rich's own without the fonts that it would fetch from the network."""

PAGE = "svg { background: var(--paper); }"
"""What the report's page around the plot says."""


def pictures() -> dict[str, str]:
    """By file name each picture, as SVG."""
    violation = verdict(
        found=Outcome.VIOLATION, verdict=Outcome.VIOLATION, findings=(lost(Severity.VIOLATION), *outages(Shape())),
        summary="VIOLATION: 6,863 acknowledged records lost.",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        run = sample_run(Path(folder) / "run", violation)
        return {"verdict.svg": _terminal(run), "timeline.svg": _timeline(run)}


def _terminal(run: RunDir) -> str:
    """How ``chaosk run`` ends on a terminal."""
    console = Console(record=True, width=110, force_terminal=True, color_system="truecolor", file=io.StringIO())
    console.print(report.summary(source.read_verdict(run), RunDir(Path("reports/kill-the-leader-under-load/run"))))
    return console.export_svg(title="chaosk run", code_format=TERMINAL, unique_id="chaosk")


def _timeline(run: RunDir) -> str:
    """The plot of a report, in its light colours; without what clients did, which would be ten times as large."""
    seen = timeline.see(source.read(run)).timeline
    drawn = figure.draw(dataclasses.replace(seen, traffic=()))
    style = files("chaosk.report").joinpath("templates/style.css").read_text("utf-8")
    head, rest = drawn.split(">", 1)
    return f"{head}><style>{style[: style.index('}') + 1]}\n{PAGE}</style>{rest}"


if __name__ == "__main__":
    for name, text in pictures().items():
        (HERE / "docs/pictures").mkdir(exist_ok=True)
        (HERE / "docs/pictures" / name).write_text(text, "utf-8")
        print(f"docs/pictures/{name}: {len(text):,} bytes")
