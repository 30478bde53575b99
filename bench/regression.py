"""Whether a gate finds a cluster that recovers half as fast, and leaves an unchanged one alone.

``python bench regression [--tries N] [--repeat N] [--output DIR]``: needs root, some 55 minutes. On one lab a baseline
of five runs of ``scenarios/brokers/kill-the-leader.yaml``; on the same lab N gates against it; then one against a lab
whose brokers' sessions last twice as long, so that a killed broker is missed twice as late. A gate that is in the
folder is not run again, and one that was broken off is continued. Prints a table of the gates.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from chaosk import lab
from chaosk.campaign.gate import record
from chaosk.campaign.gate.record import Gate
from chaosk.spec.lab_layout import LabLayout

HERE = Path(__file__).resolve().parent.parent
SCENARIO = HERE / "scenarios/brokers/kill-the-leader.yaml"
USUAL = LabLayout(name="regression")
SLOWER = LabLayout(name="regression-s", broker_config={"zookeeper.session.timeout.ms": "18000"})
"""The lab's brokers have sessions of 9 s."""
BASELINE = 5
FIGURE = "unavailability"


def gates(tries: int, repeat: int) -> Iterator[tuple[str, LabLayout, int]]:
    """Each gate: its folder, its lab, how often it runs the scenario."""
    yield "baseline", USUAL, BASELINE
    for number in range(1, tries + 1):
        yield f"unchanged-{number:02}", USUAL, repeat
    yield "slower", SLOWER, repeat


def run(folder: Path, name: str, layout: LabLayout, repeat: int) -> tuple[Gate, float]:
    """One gate, or what is left of it, and the seconds that its runs took."""
    place = folder / name
    words = _words(folder, name, repeat)
    if words:
        inventory = lab.up(layout, say)
        words += ["--inventory", str(inventory)] if "--continue" not in words else []
        subprocess.run([sys.executable, "-m", "chaosk", "gate", *words], stdout=sys.stderr, check=False)
    gate = record.load(_only(place))
    return gate, sum(each.seconds or 0 for each in gate.attempts)


def _words(folder: Path, name: str, repeat: int) -> list[str]:
    """What to tell ``chaosk gate``; nothing if all of it was run."""
    if former := list((folder / name).glob("gate-*")):
        done = all(each.state == "done" for each in record.load(former[0]).attempts)
        return [] if done else ["--continue", str(former[0])]
    words = [str(SCENARIO), "--repeat", str(repeat), "--output", str(folder / name), "--keep-going"]
    words += ["--set", "down=25s", "--figure", FIGURE]
    return words if name == "baseline" else [*words, "--baseline", str(_only(folder / "baseline"))]


def _only(place: Path) -> Path:
    """The folder of the gate that was run there."""
    (found,) = place.glob("gate-*")
    return found


def line(name: str, gate: Gate, seconds: float) -> str:
    """A row of the table: the figures of its runs, and what the gate says of them."""
    figures = [one.value for each in gate.attempts for one in each.figures if one.metric == FIGURE]
    told = " ".join("?" if value is None else f"{value:.1f}" for value in figures)
    passed = sum(each.exit_code == 0 for each in gate.attempts)
    judged = ", ".join(_said(one) for one in gate.comparisons) or "is the baseline"
    return f"| {name} | {passed} of {len(gate.attempts)} | {told} | {judged} | {seconds:.0f} |"


def _said(one: record.FigureComparison) -> str:
    if one.p is None:
        return f"not compared: {one.why_not}"
    return f"{'**worse**' if one.worse else 'not worse'}, p = {one.p:.3f}"


def say(text: str) -> None:
    """What the lab tells: not part of the result."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """All gates, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=10, help="gates on the unchanged lab (10)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each of them (3)")
    parser.add_argument("--output", type=Path, default=HERE / "reports/regression")
    chosen = parser.parse_args()
    print(f"| gate | passed | {FIGURE}, s | against the baseline | seconds |\n|---|---|---|---|---|", flush=True)
    before: LabLayout | None = None
    try:
        for name, layout, repeat in gates(chosen.tries, chosen.repeat):
            if before is not None and before != layout:
                lab.down(before.name, say, force=True)
            before = layout
            print(line(name, *run(chosen.output, name, layout, repeat)), flush=True)
    finally:
        for each in (USUAL, SLOWER):
            lab.down(each.name, say, force=True)


if __name__ == "__main__":
    main()
