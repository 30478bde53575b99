"""Judging generated runs of several sizes: seconds from a cold and in a warm JVM, CPU, memory, and what was planted.

``python bench analysis [--records 20000 200000 ...] [--rounds N]``. Each size gets a run directory with that many
sends, as many deliveries and twice as many audited records (both isolation levels), twelve partitions, four
producers, an outage of eleven seconds, and planted losses, duplicates, swaps and skips, all of which have to be found.
A process of its own judges it: once cold, then ``--rounds`` times warm.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from _synthetic import PLANTED, generate

from chaosk.analysis.analyze import analyze
from chaosk.analysis.spark import LARGE, session
from chaosk.rundir.events.store import length


def measured(root: Path, records: int, rounds: int) -> dict[str, Any]:
    """Judge a generated run cold and warm, in this process; what it took, and whether what was planted was found."""
    rundir = generate(root, records)
    began = time.monotonic()
    spark = session(large=length(rundir) >= LARGE)
    jvm = int(spark._jvm.ProcessHandle.current().pid())  # type: ignore[union-attr]  # noqa: SLF001 - py4j's way in
    started = time.monotonic() - began
    seconds, used = [], []
    for _ in range(rounds + 1):
        before, at = cpu(jvm), time.monotonic()
        verdict = analyze(spark, rundir)
        seconds.append(round(time.monotonic() - at, 2))
        used.append(round(cpu(jvm) - before, 2))
    found = {f.check: f.count for f in verdict.findings if f.check in PLANTED}
    stored = sum(table.stat().st_size for table in rundir.events.iterdir())
    result = {
        "records": records, "MB": round(stored / 1e6, 1), "session": round(started, 2), "cold": seconds[0],
        "warm": min(seconds[1:]), "warm_cpu": min(used[1:]), "jvm_MB": peak(jvm), "found": found == PLANTED,
    }  # fmt: skip
    spark.stop()
    return result if found == PLANTED else result | {"found_instead": found}


def cpu(pid: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def peak(pid: int) -> int:
    """Megabytes that a process had in memory at most."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) // 1024


def main() -> None:
    """Measure each size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    for records in chosen.records:
        with tempfile.TemporaryDirectory(prefix="chaosk-bench-") as folder:
            print(json.dumps(measured(Path(folder) / "run", records, chosen.rounds)), flush=True)


if __name__ == "__main__":
    main()
