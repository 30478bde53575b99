"""Changes one row of a flawless run, thousands of times, and looks whether the verdict is still PASS.

``./dev bench rows [--workload NAME ...] [--n 500] [--minutes M] [--out docs/measured/rows.csv]``. Every workload of
``tests/everyrow`` has a run in which all went well. For every table and every kind of row a row is dropped, repeated,
moved in its log or in time, or put into another partition; of what the probes count by themselves in two ways: as a log
that was damaged, and as a world that was different, whose counts agree. A mutant that passes has to stand on the list
of ``tests/everyrow/reasons.py``, with the reason why that row carries nothing.

``--n`` draws so many, spread evenly; one line a mutant goes to FILE, what is in it already is not judged again.
``--keep FOLDER`` leaves the run directories of those that pass without a reason there. Ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from pathlib import Path
from random import Random

HERE = Path(__file__).parent.parent
sys.path[:] = [each for each in sys.path if Path(each) != HERE / "bench"]
sys.path.insert(0, str(HERE / "tests"))

from everyrow.judging import Judge  # noqa: E402 - of the tests, which the path has to name first
from everyrow.mutants import NAMES, Flawless, Mutant  # noqa: E402
from everyrow.reasons import reason_of  # noqa: E402
from everyrow.table import table  # noqa: E402
from everyrow.workloads import WORKLOADS  # noqa: E402
from lasting_spark import lasting_session  # noqa: E402

OFTEN = 100
"""Mutants after which the file is written."""
COLUMNS = (*NAMES, "verdict", "why")
Lines = dict[tuple[str, ...], dict[str, str]]


def recorded(path: Path) -> Lines:
    """What is in the file already, by mutant."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {tuple(row[name] for name in NAMES): row for row in csv.DictReader(file)}


def write(path: Path, lines: Lines) -> None:
    """Write all of them, by name."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for _, row in sorted(lines.items()))


def drawn(mutants: list[Mutant], count: int | None, seed: int) -> list[Mutant]:
    """So many of them, in the order of their tables."""
    if count is None or count >= len(mutants):
        return mutants
    chosen = set(Random(seed).sample(range(len(mutants)), count))  # noqa: S311 - repeatable, not secret
    return [mutant for number, mutant in enumerate(mutants) if number in chosen]


def main() -> int:
    """Judge, record, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", action="append", choices=sorted(WORKLOADS), default=[])
    parser.add_argument("--n", type=int, help="how many of each workload; without it all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=24 * 60.0, help="begin no mutant after so long")
    parser.add_argument("--out", type=Path, default=Path("rows.csv"))
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    lines, until = recorded(options.out), time.monotonic() + 60 * options.minutes
    spark = lasting_session()
    for name in options.workload or WORKLOADS:
        with tempfile.TemporaryDirectory(prefix="chaosk-rows-") as folder:
            flawless = Flawless(name, WORKLOADS[name](), Path(folder) / "flawless")
            todo = [each for each in drawn(list(flawless.mutants()), options.n, options.seed) if each.name not in lines]
            judge = Judge(spark, flawless, Path(folder)) if todo else None
            for number, (mutant, judged) in enumerate(judge(todo) if judge else (), 1):
                lines[mutant.name] = dict(zip(COLUMNS, (*mutant.name, judged.verdict, judged.why), strict=True))
                if options.keep and judged.verdict == "pass" and reason_of(mutant.name) is None:
                    flawless.written(mutant, options.keep / "-".join(mutant.name).replace(" ", "_"))
                if number % OFTEN == 0:
                    write(options.out, lines)
                    print(f"{name}: {number} of {len(todo)}", file=sys.stderr, flush=True)
                if time.monotonic() > until:
                    break
        write(options.out, lines)
    print(table(lines.values()))
    return int(any(row["verdict"] == "pass" and reason_of(key) is None for key, row in lines.items()))


if __name__ == "__main__":
    sys.exit(main())
