"""What became of the mutants, in figures: which share of those that change a verdict the tests noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from _equivalents import Key, Row, Sources, refuted

ENOUGH = 0.9
STATUSES = ("killed", "time", "survived", "equivalent", "broken")


def report(rows: list[Row], known: Mapping[Key, str], source: Sources) -> int:
    """Print the score by check, the survivors and what is wrong with the list of equivalents; the exit code."""
    by_check: dict[str, Counter[str]] = {}
    for row in rows:
        by_check.setdefault(row["check"], Counter())[row["status"]] += 1
    print(f"{'check':26} {' '.join(f'{status:>10}' for status in STATUSES)}")
    for name, counts in sorted(by_check.items()):
        print(f"{name:26} {' '.join(f'{counts[status]:10}' for status in STATUSES)}")
    for row in rows:
        if row["status"] == "survived":
            print(f"{row['check']}.py:{row['line']}: {row['operator']}: {_change(row)}")
    wrong = refuted(rows, known, source)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    total = sum(by_check.values(), Counter[str]())
    killed = total["killed"] + total["time"]
    judged = killed + total["survived"]
    score = killed / judged if judged else 0.0
    beside = f"{total['equivalent']} that change no verdict, {total['broken']} that cannot be imported"
    print(f"{judged} mutants, {total['survived']} survived, score {score:.1%}; besides {beside}")
    return 0 if score >= ENOUGH and not wrong else 1


def _change(row: Row) -> str:
    """What the change makes of the code, with the words around it that are the same on both sides left out."""
    was, became = row["was"].split(), row["became"].split()
    head = next((place for place, (a, b) in enumerate(zip(was, became, strict=False)) if a != b), len(became)) - 3
    parts = (" ".join(words[max(0, head) :])[:120] for words in (was, became))
    return " -> ".join(parts)
