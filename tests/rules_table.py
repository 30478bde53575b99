"""Makes docs/rules.md: every rule of the definitions with its checks and the tests that prove them.

``python tests/rules_table.py > docs/rules.md``. Tests say what they prove by ``@pytest.mark.proves(check, way)``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from chaosk.analysis.check_runner import checks
from chaosk.analysis.checks._contract import Check

TESTS = Path(__file__).parent / "analysis"
WAYS = ("fires", "near miss", "no evidence")
RULES = {
    "A1": "inconsistent offset", "A2": "duplicate in the log", "A3": "lost write, without an audit",
    "A4": "tail lost, truncated after read", "A5": "unseen", "A6": "aborted read", "A7": "precommitted read",
    "A8": "order of sends", "A9": "cycles of transactions", "A10": "unknown value", "A11": "stale append",
    "A12": "reader divergence", "A13": "leader epoch regression", "A14": "end offset regression",
    "A15": "truncation after acknowledgement", "A16": "acknowledgement below the minimum of in-sync replicas",
    "B1": "poll skip", "B2": "order of polls", "B3": "committed-offset skip", "B4": "redelivery", "B5": "commit ahead",
    "B6": "commit regression", "B7": "offset reset jump", "B8": "double ownership", "B9": "stuck consumer",
    "B10": "stuck last stable offset", "B11": "abort rewind",
    "C1": "zombie write", "C2": "late write", "C3": "torn transaction", "C4": "exactly-once pipeline",
    "C5": "fenced late", "C6": "success of who must fail",
    "D1": "produce unavailability", "D2": "consume unavailability", "D3": "outcomes and availability",
    "D4": "latency and lag", "D5": "recovery", "D6": "election", "D7": "rebalances", "D8": "extent of a loss",
    "D9": "connections", "D10": "replication", "D11": "uncommitted records", "D12": "client errors",
}  # fmt: skip
"""Every rule by its id in the definitions, in their order."""
OPEN = {
    "A9": "not judged: it is optional in the definitions, and Kafka isolates no writes",
}
"""Rules that no check judges, and why."""
HEAD = """\
# The rules

Every rule that a run is judged by, with the checks that judge it. A test that *fires* shows a smallest run in which
the rule is broken, a *near miss* one that looks alike and is in order, *no evidence* one in which it cannot be known:
nothing is claimed there, or the verdict is INCONCLUSIVE. Checks that only measure need the first only. What a check
looks for, by its definition, is in [reference/checks.md](reference/checks.md). This page is made by
`python tests/rules_table.py > docs/rules.md`.

## The ledger

Every acknowledged record has one answer for the log, and one for each reader of its topic. The verdict shows the sums,
and a sum that does not add up to what was acknowledged makes the run INCONCLUSIVE.

| answer | what it needs |
|---|---|
| in the log, delivered | The tail audit found the record at both isolation levels. The reader was given it. |
| violation | A rule is broken, and the rows that show it are in the evidence. |
| excused | A row of this run that says why this record may be missing. A setting that the scenario hoped for is none. |
| not judged | The evidence does not tell. One such record makes the run INCONCLUSIVE. |

**Owed** to the log is every record that was acknowledged outside of a transaction, or in one that committed. A reader
is owed all partitions of its topic, whether or not a member ever had them. Its debt begins at the committed offset that
it found. With nothing committed, it begins at the log's start (`auto.offset.reset: earliest`) or at the end as the
probe asked for it (`latest`).

A reset is no new beginning. If the log's start has passed a reader's position, during an assignment or as it is given
a partition, it is owed all that the log still has, whatever its `auto.offset.reset` says. A reset to the end loses
records that are there: B1 during an assignment, B7 at its begin, and A5 and B3 for each record. If a log was cut back,
what the reader then passed is not judged.

**Excused** is a record that:

- was older than `retention.ms`, or behind more than `retention.bytes`, as a broker reported the topic's settings, while
  these were in force, and in a segment that had been closed, or of which all had expired. Its age is that by the clock
  of a replica's host, as measured then;
- has a later record of its key in a log that was compacted after that was sent, if a segment had been closed by then;
- was in a topic that was deleted and made again;
- was cut off a log by an unclean election that the watcher saw, or by a loss of power, if a replica that lost data led
  next or all in-sync replicas lost data; and its producer had not been acknowledged by the new leader before;
- was acknowledged with `acks` other than all before another broker was elected, or by a leader that was cut off and did
  not know of it, and no reader had it. No election leaves a hole between records of one leader;
- was sent with `acks: 0`, so that no broker had acknowledged it, and no reader had it;
- is hidden because an unclean election cut off the marker of its transaction, or of one that holds the last stable
  offset before it;
- lies before the position at which the reader began, or was acknowledged after a step had ended the reader, or less
  than five seconds before;
- was acknowledged after a process of a reader that begins at the end each time had ended, or less than five seconds
  before, and before the next one began.

An input of an aborted transaction is owed to nobody any more if the log lost it, for one of these reasons, before the
application could read it again.

What removed a record from the log later does not excuse a reader that had passed the record before: the reader was
given a later record of the partition while a leader still reported a log start at or before the offset, before any
later record of the key was sent, or from the log that was cut off.

**Not judged** is a record whose partition was not audited to its end, or that lies below a log start that moved while
nobody reported the topic's settings. So is what a reader had not reached when the run ended, or when a step ended the
reader, what a killed process may have had before its end, and what was sent after the reader had begun beyond it, or
had passed its offset in a log that was cut back. So is a partition that no member held in the end. If that lasted for
longer than `session.timeout.ms` and `max.poll.interval.ms` together, counted from the last heal, it is a violation.
A last stable offset that is below the high watermark when the audit reads makes the run INCONCLUSIVE, whatever lies
behind it, unless B10 tells of that partition.

## The rules, one by one
"""


@cache
def proofs() -> dict[tuple[str, str], list[str]]:
    """By check and way the tests that say they prove it, as ``file::test``."""
    found: dict[tuple[str, str], list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for key, test in _marked(path):
            found.setdefault(key, []).append(f"{path.stem}::{test}")
    return found


def _marked(path: Path) -> Iterator[tuple[tuple[str, str], str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.proves":
                    check, way = (ast.literal_eval(argument) for argument in mark.args)
                    yield (check, way), node.name


def measures_only(kind: type[Check]) -> bool:
    """Whether a check has no rows to show, or only ones that are never wrong."""
    return kind.rule in {"D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9", "D10", "D11", "D12"}


def of_rule(rule: str) -> dict[str, type[Check]]:
    """The checks of a rule by name."""
    return {name: kind for name, kind in checks().items() if rule in {kind.rule, *kind.also}}


def table() -> str:
    """The page."""
    proven = proofs()
    lines = [HEAD, "| rule | what | check | fires | near miss | no evidence |", "|---|---|---|---|---|---|"]
    for rule, what in RULES.items():
        for name in of_rule(rule) or ("",):
            cells = [_tests(proven.get((name, way), [])) for way in WAYS]
            lines.append(f"| {rule} | {what} | {f'`{name}`' if name else OPEN[rule]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _tests(names: list[str]) -> str:
    return "<br>".join(
        f"[{file.removeprefix('test_')}](../tests/analysis/{file}.py): {test.removeprefix('test_').replace('_', ' ')}"
        for file, test in (name.split("::") for name in names)
    )


if __name__ == "__main__":
    sys.stdout.write(table())
