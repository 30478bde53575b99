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
    "C5": "fenced late", "C6": "success of a client that must fail",
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

The rules that judge a run, with their checks and the tests of each check. A *fires* test has a minimal run that breaks
the rule. A *near miss* is a similar run that does not break it. In a *no evidence* test the evidence is not sufficient:
the check claims nothing, or the verdict is INCONCLUSIVE. A check that only measures needs a *fires* test only.
[reference/checks.md](reference/checks.md) defines each check. `python tests/rules_table.py > docs/rules.md` generates
this page.

## The ledger

Every acknowledged record has one answer for the log, and one for each reader of its topic. The verdict shows the sums.
If the sums do not equal the number of acknowledged records, the run is INCONCLUSIVE.

| answer | condition |
|---|---|
| in the log, delivered | The tail audit found the record at both isolation levels. The reader received it. |
| violation | A rule is broken, and the rows that prove it are in the evidence. |
| excused | A row of this run explains why the record may be missing. A setting of the scenario alone is not enough. |
| not judged | The evidence is not sufficient. One such record makes the run INCONCLUSIVE. |

The log **owes** every record that was acknowledged outside a transaction, or in a committed one. A reader is owed the
records of all partitions of its topic, even of partitions that no member ever had. They count from the committed offset
that the reader found. Without a commit they count from the log start (`auto.offset.reset: earliest`), or from the log
end that the probe requested (`latest`).

A reset does not change that. If the log start passes a reader's position, the reader is still owed every record in the
log, regardless of its `auto.offset.reset`. This holds during an assignment and when a partition is assigned. A reset to
the end loses existing records: B1 during an assignment, B7 at its begin, and A5 and B3 for each record. If a log was
truncated, the records that the reader passed afterwards are not judged.

A record is **excused** if one of these holds:

- Retention. It was older than `retention.ms`, or behind more than `retention.bytes`, as a broker reported the topic's
  settings while these were in force. Its segment was closed, or all records in it had expired. Its age counts by the
  clock of a replica's host, as measured then.
- Compaction. A later record has its key, the log was compacted after that one was sent, and a segment had been closed
  by then.
- Deletion. Its topic was deleted and created again.
- Truncation. An unclean election that the watcher saw cut it off, or a loss of power. For the loss of power, a replica
  that lost data led next, or all in-sync replicas lost data. The new leader had not acknowledged the producer before.
- `acks` other than all. It was acknowledged before another broker was elected, or by a leader that was cut off and did
  not know of its replacement, and no reader had it. An election leaves no gap between records of one leader.
- `acks: 0`. No broker had acknowledged it, and no reader had it.
- A lost marker. It is hidden because an unclean election cut off the marker of its transaction, or the marker of one
  that holds the last stable offset before it.
- The reader's begin or end. It lies below the reader's first position. Or it was acknowledged after a step had ended
  the reader, or less than five seconds before.
- A pause of the reader. The reader begins at the log end at each start. The record was acknowledged before the next
  process began, and after the last one had ended or less than five seconds before.

If the log lost an input of an aborted transaction for one of these reasons before the application could read it again,
no reader is owed that input.

A later removal from the log does not excuse a reader that had already passed the record. A reader has passed it if it
received a later record of the partition in one of these cases: while a leader still reported a log start at or before
the offset, before any later record of the key was sent, or from the log that was truncated.

A record is **not judged** in these cases:

- The audit of its partition is incomplete.
- It lies below a log start that moved while no broker reported the topic's settings.
- The reader had not reached it when the run ended, or when a step ended the reader.
- A killed process may have received it before its end.
- It was sent after the reader had begun beyond its offset, or had passed that offset in a truncated log.
- No member held its partition at the end. After more than `session.timeout.ms` and `max.poll.interval.ms` together,
  counted from the last heal, that is a violation.

If a last stable offset is below the high watermark when the audit reads, the run is INCONCLUSIVE, with or without
records in between, unless B10 reports that partition.

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
    lines = [HEAD, "| rule | name | check | fires | near miss | no evidence |", "|---|---|---|---|---|---|"]
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
