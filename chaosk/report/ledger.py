"""The ledger as a table: each account's answers in one row, with their sum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chaosk.core.figures import number
from chaosk.rundir.verdict import Account


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One account in words."""

    topic: str
    whom: str
    owed: str
    delivered: str
    violation: str
    excused: str
    not_judged: str
    sum: str
    """The sum of the answers."""
    state: str
    """The worst answer: ``violation``, ``not judged``, ``wrong sum``, ``excused`` or ``all there``."""


COLUMNS = ("topic", "owed to", "acknowledged", "there", "violation", "excused", "not judged", "sum")


def ledger_rows(accounts: Iterable[Account]) -> tuple[LedgerRow, ...]:
    """Return a row for each account, the log's first in each topic."""
    ordered = sorted(accounts, key=lambda account: (account.topic, account.reader))
    return tuple(_row(account) for account in ordered)


def _row(account: Account) -> LedgerRow:
    total = account.delivered + account.violation + _sum(account.excused) + _sum(account.not_judged)
    kept = f" ({number(account.uncommitted)} not committed)" if account.uncommitted else ""
    return LedgerRow(
        topic=account.topic,
        whom=account.reader or "the log",
        owed=number(account.owed),
        delivered=f"{number(account.delivered)}{kept}",
        violation=number(account.violation),
        excused=_told(account.excused),
        not_judged=_told(account.not_judged),
        sum=number(total) if account.balanced else f"{number(total)}, not {number(account.owed)}",
        state=_state(account),
    )


def _state(account: Account) -> str:
    answers = {
        "violation": account.violation, "not judged": _sum(account.not_judged), "wrong sum": not account.balanced,
        "excused": _sum(account.excused),
    }  # fmt: skip
    return next((word for word, count in answers.items() if count), "all there")


def _sum(by_reason: Mapping[str, int]) -> int:
    return sum(by_reason.values())


def _told(by_reason: Mapping[str, int]) -> str:
    """Format the sum, and the counts by reason, largest first."""
    reasons = sorted(
        ((count, reason) for reason, count in by_reason.items() if count), key=lambda one: (-one[0], one[1])
    )
    if not reasons:
        return "0"
    if len(reasons) == 1:
        return f"{number(reasons[0][0])}: {reasons[0][1]}"
    return f"{number(_sum(by_reason))}: {'; '.join(f'{number(count)} {reason}' for count, reason in reasons)}"
