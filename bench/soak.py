"""A long run with a fault a minute on the lab: what its analysis takes, in time and in memory, and its report.

``python bench soak [--minutes 20] [--rate 5000] [--keep DIR]``: needs root. One producer and two members of a group, in
six partitions, on a lab of three brokers and three ZooKeeper nodes of its own; faults take turns. The run is judged by
``chaosk run`` as it ends, and then again by a whole ``chaosk analyze``, whose memory is watched, and that of all
processes of the run. Where there is Chromium, it says how long the report takes to open.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from yardstick import took

from chaosk import lab
from chaosk.spec.lab_layout import LabLayout

LAB = "soak"
VERDICTS = (0, 1, 2)
"""Exit codes of a run that was judged: PASS, FAIL, INCONCLUSIVE."""
FAULTS = (
    ('kill_broker: {target: "leader(orders, 0)"}', 15),
    ('cut_network: {between: ["host(leader(orders, 1))", everyone else]}', 15),
    ('pause_broker: {target: "leader(orders, 2)"}', 10),
    ('kill_zookeeper: {target: "zookeeper leader"}', 15),
    ('stop_broker: {target: "leader(orders, 3)"}', 10),
)
"""A step, and for how many seconds."""
SCENARIO = """\
name: Soak
hypothesis: With acks=all nothing acknowledged is lost, whatever fails.
topics:
  orders: {{partitions: 6, replication_factor: 3, config: {{min.insync.replicas: 2}}}}
probes:
  writer: {{produce: {{topic: orders, rate: {rate}/s, config: {{acks: all, enable.idempotence: true}}}}}}
  first: {{consume: {{topic: orders, group: readers, commit: sync}}}}
  second: {{consume: {{topic: orders, group: readers, commit: sync}}}}
timeline:
{timeline}
settle: 20s
expect: {{lost_records: 0}}
"""
ENTRY = """\
  - name: fault{number}
    at: {at}s
    {step}
    for: {seconds}s
"""


def scenario(minutes: int, rate: int) -> str:
    """The scenario, as YAML: a fault half a minute after each full one."""
    faults = enumerate(islice(cycle(FAULTS), minutes))
    entries = [ENTRY.format(number=n, at=60 * n + 30, step=step, seconds=length) for n, (step, length) in faults]
    return SCENARIO.format(rate=rate, timeline="".join(entries))


def say(line: str) -> None:
    """What the lab tells: not part of the result."""
    print(line, file=sys.stderr)


def opens(page: Path) -> float | None:
    """Seconds that Chromium takes to load a page and run its scripts, its own start with it; None without Chromium."""
    if shutil.which("chromium") is None:
        return None
    words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.resolve().as_uri()]
    took = []
    for _ in range(3):
        began = time.monotonic()
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=120)
        took.append(time.monotonic() - began)
    return round(min(took), 2)


def measured(minutes: int, rate: int, folder: Path) -> dict[str, Any]:
    """Run it, judge it again, and look at what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "soak.yaml"
    path.write_text(scenario(minutes, rate), "utf-8")
    inventory = lab.up(LabLayout(name=LAB), say)
    chaosk = [sys.executable, "-m", "chaosk"]
    first = took([*chaosk, "run", str(path), "--inventory", str(inventory), "--output", str(folder)], VERDICTS)
    run = max(folder.glob("**/verdict.json")).parent
    verdict: dict[str, Any] = json.loads((run / "verdict.json").read_text("utf-8"))
    record = json.loads((run / "run.json").read_text("utf-8"))
    again = took([*chaosk, "analyze", str(run)], VERDICTS)
    same = verdict == json.loads((run / "verdict.json").read_text("utf-8"))
    rows = {each.stem: pq.read_metadata(each).num_rows for each in sorted((run / "events").glob("*.parquet"))}
    return {
        "minutes": minutes, "rate": rate, "verdict": verdict["verdict"], "summary": verdict["summary"],
        "faults": len(verdict["faults"]), "healed": verdict["healed"],
        "rows": {name: count for name, count in rows.items() if count > 10_000},
        "events_MB": round(sum(each.stat().st_size for each in (run / "events").glob("*")) / 1e6, 1),
        "run_MB": round(first.megabytes), "durations": record["durations"],
        "analyze_s": round(again.seconds, 1), "analyze_MB": round(again.megabytes), "same_verdict": same,
        "evidence_MB": round(sum(each.stat().st_size for each in (run / "evidence").glob("*")) / 1e6, 1),
        "report_MB": round((run / "report.html").stat().st_size / 1e6, 2), "report_opens_s": opens(run / "report.html"),
    }  # fmt: skip


def main() -> None:
    """Measure it once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=20)
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--keep", type=Path, help="a folder to keep the run directory in")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="chaosk-soak-") as folder, ExitStack() as stack:
        stack.callback(lab.down, LAB, say, force=True)
        print(json.dumps(measured(chosen.minutes, chosen.rate, chosen.keep or Path(folder))), flush=True)


if __name__ == "__main__":
    main()
