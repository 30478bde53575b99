"""How long Spark takes to start, with an archive of classes (``chaosk prepare``) and without one.

``python bench spark_start [--rounds 5]``. In each round, one after the other, with and without: a process that starts
the session and asks it one small question, and a whole ``chaosk analyze`` of a small run. The archive is made for this
in a cache of its own; what making it takes is told too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from _synthetic import generate

from chaosk.analysis import classes

START = "from chaosk.analysis.spark import session; spark = session(); spark.range(9).count(); spark.stop()"
RECORDS = 5_000


def seconds(words: list[str], cache: Path) -> float:
    """How long a process takes whose user has that cache; it may say that the run failed."""
    began = time.monotonic()
    env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run([sys.executable, *words], env=env, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(words)}: ended with {done.returncode}: {done.stderr[-2000:]}")
    return time.monotonic() - began


def measured(folder: Path, rounds: int) -> dict[str, float]:
    """Medians, and those of the ratios with / without within a round."""
    run = generate(folder / "run", RECORDS).root
    kinds = {"start": ["-c", START], "analyze": ["-m", "chaosk", "analyze", str(run)]}
    with_it, without = folder / "with", folder / "without"
    os.environ["XDG_CACHE_HOME"] = str(with_it)
    began = time.monotonic()
    classes.make()
    figures = {"make_s": round(time.monotonic() - began, 1)}
    for kind, words in kinds.items():
        times = [(seconds(words, with_it), seconds(words, without)) for _ in range(rounds)]
        figures |= {
            f"{kind}_with_s": round(median(mine for mine, _ in times), 2),
            f"{kind}_without_s": round(median(other for _, other in times), 2),
            f"{kind}_ratio": round(median(mine / other for mine, other in times), 2),
        }
    return figures


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="chaosk-spark-start-") as folder:
        print(json.dumps(measured(Path(folder), chosen.rounds)))


if __name__ == "__main__":
    main()
