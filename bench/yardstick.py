"""A whole `chaosk analyze` beside DuckDB at five of its questions: seconds, their ratio, and memory.

``python bench yardstick [--events 1 10 50] [--rounds N]``; sizes are millions of events, half sends and half
deliveries, beside a tail audit of both isolation levels (as many rows again, twice). All are whole processes on the
same Parquet files, one after the other in each round: DuckDB with two threads, chaosk with every rule, and chaosk with
the checks that answer those five questions (``five``), which then judges once more in the same session (``warm``). What
is planted has to be found by DuckDB and by chaosk. Of several sizes ``growth`` tells how much longer a warm judgement
takes than one of the size before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from _synthetic import PLANTED, generate

EVERY = 0.1
"""Seconds between two looks at memory."""
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Took:
    """One process, with all its children."""

    seconds: float
    megabytes: float
    """At most, resident, all of them together."""
    said: str


def took(words: list[str], codes: tuple[int, ...]) -> Took:
    """Run a command to its end; raises SystemExit if it ends with any other code."""
    began = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    most, over = [0.0], threading.Event()

    def watch() -> None:
        while not over.wait(EVERY):
            most[0] = max(most[0], sum(resident(pid) for pid in tree(child.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    said, wrong = child.communicate()
    seconds = time.monotonic() - began
    over.set()
    watcher.join()
    if child.returncode not in codes:
        raise SystemExit(f"{' '.join(words)}: ended with {child.returncode}: {wrong[-2000:]}")
    return Took(seconds, most[0], said)


def tree(pid: int) -> list[int]:
    """A process and all that it started."""
    found = [pid]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found.extend(int(child) for child in task.read_text(encoding="ascii").split())
            except (FileNotFoundError, ProcessLookupError):
                continue
    return found


def resident(pid: int) -> float:
    """Megabytes of a process in memory; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS")), 0.0)


def compare(run: Path, said: str) -> None:
    """Raises SystemExit unless the analysis and DuckDB found what is planted, of that which both look for."""
    verdict: dict[str, Any] = json.loads((run / "verdict.json").read_text("utf-8"))
    ours = {finding["check"]: finding["count"] for finding in verdict["findings"]}
    theirs = json.loads(said)
    names = {"lost": "lost", "duplicate_in_log": "doubled", "send_order": "turned"}
    for name, its in names.items():
        if (ours.get(name, 0), theirs[its]) != (PLANTED[name], PLANTED[name]):
            raise SystemExit(f"{name}: planted {PLANTED[name]}, found {ours.get(name, 0)}, DuckDB {theirs[its]}")


def measured(millions: float, rounds: int) -> dict[str, Any]:
    """One size: medians of both, of their ratio, and the most memory."""
    with tempfile.TemporaryDirectory(prefix="chaosk-yardstick-") as folder:
        run = generate(Path(folder) / "run", int(millions * 500_000)).root
        ours, five, warm, theirs = [], [], [], []
        for _ in range(rounds):
            theirs.append(took([sys.executable, str(HERE / "_questions.py"), str(run)], (0,)))
            five.append(took([sys.executable, str(HERE / "_judged.py"), str(run), "--five", "--again"], (0,)))
            warm.append(json.loads(five[-1].said.splitlines()[-1])["again_s"])
            compare(run, theirs[-1].said)
            ours.append(took([sys.executable, "-m", "chaosk", "analyze", str(run)], (1, 2, 3)))
            compare(run, theirs[-1].said)
    cold = [each.seconds - again for each, again in zip(five, warm, strict=True)]
    return {
        "million_events": millions,
        "analyze_s": round(median(each.seconds for each in ours), 2),
        "five_s": round(median(cold), 2),
        "warm_s": median(warm),
        "duckdb_s": round(median(each.seconds for each in theirs), 2),
        "ratio": round(median(a.seconds / b.seconds for a, b in zip(ours, theirs, strict=True)), 1),
        "five_ratio": round(median(mine / its.seconds for mine, its in zip(cold, theirs, strict=True)), 1),
        "warm_ratio": round(median(mine / its.seconds for mine, its in zip(warm, theirs, strict=True)), 1),
        "analyze_MB": round(max(each.megabytes for each in ours)),
        "duckdb_MB": round(max(each.megabytes for each in theirs)),
    }


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=float, nargs="+", default=[1.0, 10.0, 50.0])
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    before: dict[str, Any] = {}
    for millions in chosen.events:
        found = measured(millions, chosen.rounds)
        growth = {"growth": round(found["warm_s"] / before["warm_s"], 1)} if before else {}
        print(json.dumps(found | growth), flush=True)
        before = found


if __name__ == "__main__":
    main()
