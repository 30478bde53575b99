"""Every scenario on every kind of cluster that the lab has: a table of verdicts.

``python bench clusters [CLUSTER...] [--only PATTERN]... [--times N] [--csv FILE] [--lab NAME]
[--output DIR] [--table | --gate DIR]``: needs root.
Brings up one lab after the other and runs each file of ``scenarios/`` on it that is for such a cluster, in each of its
variants, by ``chaosk run``, healing the lab between them. Each run becomes a row of the CSV file at once, and what has
as many rows as is wanted is not run again, so that hours of work can be broken off. ``--table`` runs nothing and prints
the file as Markdown; ``--gate`` runs nothing and adds a row for each run of a gate that was made on labs.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from chaosk import lab
from chaosk.campaign.gate.record import load
from chaosk.document import load_variants
from chaosk.document.kinds import is_space
from chaosk.run.cluster_choice import dressed
from chaosk.run.standby import standing_by
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Scenario

HERE = Path(__file__).resolve().parent.parent
CLUSTERS = {
    "hosts-3.9-zookeeper": LabLayout(kafka="3.9.2", supervised=True),
    "hosts-4.2-kraft": LabLayout(kafka="4.2.0", controllers=3, supervised=True),
    "vms-3.9-zookeeper": LabLayout(kafka="3.9.2", hosts="vms"),
    "vms-4.2-kraft": LabLayout(kafka="4.2.0", controllers=3, hosts="vms"),
}
"""Controllers have processes of their own: two of three brokers that are both would be the quorum's majority."""

NOT_ON_MACHINES = {
    "reset_connections",  # their kernel, Debian's UML, is built without CONFIG_INET_DIAG_DESTROY
    "wipe_disk",  # a data directory there is a mount, which the step refuses
}
"""Steps that virtual machines of the lab refuse."""


class Row(NamedTuple):
    """One run."""

    cluster: str
    scenario: str
    verdict: str
    expected: str
    """``yes`` if the scenario ended as it says that it should."""
    seconds: str
    summary: str


class Case(NamedTuple):
    """One scenario of a file."""

    name: str
    """The file's, without ``.yaml``, with that of the variant behind it if the file has any."""
    path: Path
    variant: str
    scenario: Scenario


def cases() -> Iterator[Case]:
    """Every scenario of this repository, the variants of a file next to each other."""
    for path in sorted(HERE.glob("scenarios/**/*.yaml")):
        if is_space(path):
            continue
        for variant, scenario in load_variants(path).items():
            yield Case(named(path, variant), path, variant, scenario)


def named(path: Path, variant: str) -> str:
    """What a scenario is called in the table."""
    return f"{path.stem}: {variant}" if variant else path.stem


def wanted(case: Case, only: list[str]) -> bool:
    """Whether one of the patterns fits its name, or that of its file."""
    return any(fnmatch(name, pattern) for pattern in only for name in (case.name, case.path.stem))


def fits(scenario: Scenario, layout: LabLayout) -> bool:
    """Whether its steps, and what it says of its cluster, are for such a one."""
    if scenario.cluster.hosts == "vms" and layout.hosts != "vms":
        return False
    if layout.hosts == "vms" and any(entry.kind in NOT_ON_MACHINES for entry in scenario.timeline):
        return False
    if scenario.cluster.versions and layout.hosts == "vms":
        return False  # an image has one version
    mode = "kraft" if layout.controllers else "zookeeper"
    needs = (entry.step.needs for entry in scenario.timeline)
    return scenario.cluster.mode in {None, mode} and all(each is None or each.mode == mode for each in needs)


def shaped(layout: LabLayout, scenario: Scenario) -> LabLayout:
    """The layout with what a scenario wants: one broker, or names, settings, disks, racks or versions."""
    if special := dressed(scenario):
        brokers = max(layout.brokers, scenario.cluster.brokers.min)
        return layout.model_copy(update={**special, "brokers": brokers, "name": f"{layout.name}-c"})
    if scenario.cluster.brokers.max != 1:
        return layout
    return layout.model_copy(update={"brokers": 1, "name": f"{layout.name}-1"})


def run(cluster: str, layout: LabLayout, case: Case, folder: Path) -> Row:
    """One scenario on a lab for it, which is put up or made whole first."""
    inventory = lab.up(layout, say)
    before, began = set(folder.glob("**/verdict.json")), time.monotonic()
    command = [sys.executable, "-m", "chaosk", "run", str(case.path), "--inventory", str(inventory)]
    command += ["--output", str(folder), *(["--variant", case.variant] if case.variant else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    seconds = f"{time.monotonic() - began:.0f}"
    found = set(folder.glob("**/verdict.json")) - before
    if not found:
        last = (done.stdout.strip().splitlines() or ["it said nothing"])[-1]
        return Row(cluster, case.name, f"exit code {done.returncode}", "no", seconds, last)
    verdict = json.loads(found.pop().read_text("utf-8"))
    return Row(
        cluster, case.name, verdict["found"], "no" if done.returncode else "yes", seconds, verdict["summary"]
    )  # fmt: skip


def rows_of(folder: Path) -> Iterator[Row]:
    """The runs of a gate that came to a verdict, on the clusters of this table."""
    for one in load(folder).attempts:
        mode = "zookeeper" if "ZooKeeper" in one.cluster else "kraft"
        machines = "vms" if (one.lab or "").startswith("vm") else "hosts"
        cluster = f"{machines}-{'.'.join((one.kafka or '').split('.')[:2])}-{mode}"
        if one.verdict is None or cluster not in CLUSTERS:
            continue
        verdict = json.loads((folder / (one.folder or "") / "verdict.json").read_text("utf-8"))
        name = named(Path(one.file), one.variant)
        expected = "no" if one.exit_code else "yes"
        yield Row(cluster, name, verdict["found"], expected, f"{one.seconds or 0:.0f}", verdict["summary"])


def say(line: str) -> None:
    """What the lab tells: not part of the result."""
    print(line, file=sys.stderr, flush=True)


def rows(file: Path) -> list[Row]:
    """What was run before."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as text:
        return [Row(**each) for each in csv.DictReader(text)]


def append(file: Path, row: Row) -> None:
    """Keep a row."""
    new = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        if new:
            writer.writerow(Row._fields)
        writer.writerow(row)


def table(known: list[Row]) -> str:
    """Scenarios by clusters, as Markdown: verdicts, and how many of the runs were as expected where not all were."""
    runs: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in known:
        runs[row.scenario, row.cluster].append(row)
    lines = [f"| scenario | {' | '.join(CLUSTERS)} |", "|---" * (1 + len(CLUSTERS)) + "|"]
    for case in cases():
        cells = [
            cell(runs[case.name, name]) if fits(case.scenario, layout) else "not for it"
            for name, layout in CLUSTERS.items()
        ]
        lines.append(f"| {case.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(found: list[Row]) -> str:
    """The verdicts of one scenario on one cluster."""
    if not found:
        return "not run"
    names = ", ".join(dict.fromkeys(row.verdict for row in found))
    right = sum(row.expected == "yes" for row in found)
    counted = f"{right} of {len(found)}"
    if right < len(found):
        return f"{names}: **as expected {counted}**"
    return names if right == 1 else f"{names}, {counted}"


def main() -> None:
    """Run what has no row yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clusters", nargs="*", metavar="CLUSTER", help=f"of {', '.join(CLUSTERS)}; default: all")
    parser.add_argument(
        "--only", action="append", metavar="PATTERN",
        help="scenarios whose name in the table fits this pattern, or their file's without .yaml; may be given again",
    )  # fmt: skip
    parser.add_argument("--times", type=int, default=1, help="how many runs of each there are to be; default: 1")
    parser.add_argument("--csv", type=Path, default=HERE / "docs/measured/clusters.csv")
    parser.add_argument("--lab", default="table", help="the name of the labs: of another name they can be side by side")
    parser.add_argument("--output", type=Path, metavar="DIR", help="where the runs' directories stay; default: nowhere")
    parser.add_argument("--table", action="store_true", help="run nothing, print the file as a table")
    parser.add_argument("--gate", type=Path, metavar="DIR", help="run nothing, add the runs of a gate's folder")
    chosen = parser.parse_args()
    if unknown := set(chosen.clusters) - set(CLUSTERS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if chosen.table:
        print(table(rows(chosen.csv)))
        return
    if chosen.gate is not None:
        for row in rows_of(chosen.gate):
            append(chosen.csv, row)
        return
    with tempfile.TemporaryDirectory(prefix="chaosk-clusters-") as place:
        folder = chosen.output or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        for cluster in chosen.clusters or CLUSTERS:
            layout = CLUSTERS[cluster].model_copy(update={"name": chosen.lab})
            try:
                for times in range(1, chosen.times + 1):
                    everything(cluster, layout, chosen.only or ["*"], times, chosen.csv, folder)
            finally:
                for more in ("", "-1", "-c"):
                    lab.down(chosen.lab + more, say, force=True)


def everything(cluster: str, layout: LabLayout, only: list[str], times: int, file: Path, folder: Path) -> None:
    """All scenarios that fit one cluster and have fewer rows, once each; one lab at a time."""
    known = Counter((row.cluster, row.scenario) for row in rows(file))
    up: LabLayout | None = None
    every = [
        (shaped(layout, case.scenario), case) for case in cases()
        if known[cluster, case.name] < times and wanted(case, only) and fits(case.scenario, layout)
    ]  # fmt: skip
    with standing_by(folder / "analysis.log"):
        for shape, case in sorted(every, key=lambda each: (each[0].model_dump_json(), each[1].name)):
            if up is not None and up != shape:
                lab.down(up.name, say, force=True)
            up = shape
            row = run(cluster, shape, case, folder)
            append(file, row)
            print(*row, sep="  ", flush=True)


if __name__ == "__main__":
    main()
