"""Changes the code of the checks a little, thousands of ways, and looks whether their tests notice.

``./dev bench mutation [--n 200] [--seed 1] [--check NAME ...] [--minutes M] [--limit SECONDS] [--out FILE.csv]``. Of
the mutants of each check (``_mutants.py``: comparisons, conditions, kinds of joins, dropped filters, ...) ``--n`` are
drawn, spread evenly over the checks. Each is put into this process (``_graft.py``), then the tests that say they prove
the check run until one fails, then those that name it and the others of its own test files; all in one Spark session
(``_warm.py``). What killed a mutant has to pass afterwards on the code as it is, or nothing is believed; and where a
check has a glance, some of these tests must ask it.

A mutant that cannot be imported counts apart, and so does one that survives and changes no verdict, by the list of
``_equivalents.py``. One line a mutant goes to FILE; what is in it already is not run again while the check's code is
the same. Ends with 1 if fewer than 90 % of the others were killed, or if the list is wrong.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from _equivalents import LIST, label, listed
from _graft import Unimportable, grafted
from _mutants import Mutant, mutants
from _score import report
from _warm import Warm, run

from chaosk.analysis.check_runner import checks
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.glances.rows import EventRows

PACKAGE = "chaosk.analysis.checks"


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    check: str
    digest: str
    """Of the check's code: another code has other mutants."""
    number: int
    line: int
    operator: str
    was: str
    became: str
    status: str
    """``killed``, ``time`` (killed, as a test took longer than the limit), ``survived``, ``equivalent`` (survived, and
    listed as one that changes no verdict), or ``broken``: no import."""
    by: str
    """The test that failed, or how the import did."""
    seconds: float


@dataclass
class Tests:
    """The tests of a check, the ones that killed before first."""

    warm: Warm
    check: str
    kills: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.items = self.warm.of(self.check)
        if not self.items:
            raise SystemExit(f"{self.check}: no test says that it proves it")

    def killer(self) -> tuple[str, str]:
        """The first test that fails now and whether it was for ``time``; two empty words if none does."""
        for item in sorted(self.items, key=lambda each: -self.kills[each.nodeid]):
            if why := self.warm.fails(item):
                self.kills[item.nodeid] += 1
                return item.nodeid.rpartition("/")[2], why
        return "", ""

    def verify(self, kind: type[Check]) -> None:
        """See that the killers pass on the code as it is, and that the check's glance, if it has one, is asked.

        Raises SystemExit if not: then no kill means anything.
        """
        with spied(kind) as answers:
            for item in sorted(self.items, key=lambda each: -self.kills[each.nodeid]):
                needed = self.kills[item.nodeid] or ("glance" in vars(kind) and not answers)
                if needed and (why := self.warm.fails(item)):
                    raise SystemExit(f"{item.nodeid} fails on the code as it is: {why}")
        if "glance" in vars(kind) and not answers:
            raise SystemExit(f"{self.check}: none of its tests asks its glance")


@contextmanager
def spied(kind: type[Check]) -> Iterator[list[bool]]:
    """Every answer that the check's glance gives meanwhile."""
    answers: list[bool] = []
    glance = kind.glance

    def told(check: Check, rows: EventRows) -> bool:
        answers.append(glance(check, rows))
        return answers[-1]

    if "glance" not in vars(kind):
        yield answers
        return
    setattr(kind, "glance", told)  # noqa: B010 - mypy lets nobody assign to a method
    try:
        yield answers
    finally:
        setattr(kind, "glance", glance)  # noqa: B010


def source(check: str) -> Path:
    """The file of a check."""
    return Path(str(import_module(f"{PACKAGE}.{check}").__file__))


def digest(check: str) -> str:
    """What changes when the check's code does."""
    return hashlib.sha256(source(check).read_bytes()).hexdigest()[:12]


def drawn(names: Iterable[str], count: int, seed: int) -> dict[str, list[Mutant]]:
    """By check the mutants of the sample: one of each check, then a second one, until there are ``count``.

    A larger sample with the same seed holds the smaller one.
    """
    shuffled = {}
    for name in sorted(names):
        shuffled[name] = list(mutants(source(name)))
        Random(f"{seed} {name}").shuffle(shuffled[name])  # noqa: S311 - repeatable, not secret
    turns = [(turn, name) for name, found in shuffled.items() for turn in range(len(found))]
    taken = Counter(name for _, name in sorted(turns)[:count])
    return {name: shuffled[name][: taken[name]] for name in taken}


def tried(tests: Tests, mutant: Mutant) -> Outcome:
    """Put one mutant in, run the tests until one fails, put the original back."""
    began = time.monotonic()
    module = import_module(f"{PACKAGE}.{tests.check}")
    try:
        with grafted(module, mutant.code):
            by, why = tests.killer()
        status = "survived" if not by else "time" if why == "time" else "killed"
    except Unimportable as error:
        status, by = "broken", str(error)
    return Outcome(
        tests.check, digest(tests.check), mutant.number, mutant.line, mutant.operator, mutant.was, mutant.became,
        status, by, round(time.monotonic() - began, 1),
    )  # fmt: skip


def recorded(path: Path) -> list[dict[str, str]]:
    """The outcomes that are in the file already and still hold: the checks' code is as it was."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = checks()
    return [row for row in rows if row["check"] in known and row["digest"] == digest(row["check"])]


def write(path: Path, rows: list[dict[str, str]]) -> None:
    """Write all outcomes, by check and number."""
    rows.sort(key=lambda row: (row["check"], int(row["number"])))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(Outcome.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def campaign(sample: dict[str, list[Mutant]], options: argparse.Namespace) -> list[dict[str, str]]:
    """Try what is not recorded yet, check by check; every outcome, the recorded ones too."""
    rows, known = recorded(options.out), listed(options.equivalents)
    label(rows, known, source)
    done = {(row["check"], int(row["number"])) for row in rows}
    until = time.monotonic() + 60 * options.minutes
    say = os.fdopen(os.dup(2), "w", buffering=1)  # pytest takes the others

    def work(warm: Warm) -> None:
        for name, chosen in sample.items():
            todo = [mutant for mutant in chosen if (name, mutant.number) not in done]
            if not todo or time.monotonic() > until:
                continue
            tests = Tests(warm, name)
            fresh: list[dict[str, Any]] = []
            for mutant in todo:
                if time.monotonic() < until:
                    fresh.append(asdict(tried(tests, mutant)))
                    print("{check}:{line} {operator}: {status} {by} {seconds} s".format(**fresh[-1]), file=say)
            tests.verify(checks()[name])
            rows.extend({key: str(value) for key, value in row.items()} for row in fresh)
            label(rows, known, source)
            write(options.out, rows)

    run(work, options.limit)
    return rows


def main() -> int:
    """Draw, try, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="append", choices=sorted(checks()), default=[])
    parser.add_argument("--minutes", type=float, default=24 * 60.0, help="begin no mutant after so long")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one test")
    parser.add_argument("--equivalents", type=Path, default=LIST, help="the list of those that change no verdict")
    parser.add_argument("--out", type=Path, default=Path("mutation.csv"))
    options = parser.parse_args()
    options.out = options.out.absolute()
    rows = campaign(drawn(options.check or checks(), options.n, options.seed), options)
    return report(rows, listed(options.equivalents), source)


if __name__ == "__main__":
    sys.exit(main())
