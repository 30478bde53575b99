"""What a check's row comes to: the columns that are compared, and those that tell one row from another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from analysis.history import Row
from truth.story import Planted

VALUE = ("producer", "producer_incarnation", "seq")
PLACE = ("topic", "partition")
MEMBER = ("probe", "incarnation")
OWNED = ("group", *PLACE)

KEYS: dict[str, tuple[str, ...]] = {
    "inconsistent_offset": (*PLACE, "offset"),
    "duplicate_in_log": VALUE,
    "lost": VALUE,
    "send_order": VALUE,
    "poll_skip": (*MEMBER, *PLACE, "before", "skipped"),
    "poll_order": (*MEMBER, *PLACE, "before", "offset"),
    "unseen": ("group", *VALUE),
    "commit_skip": (*OWNED, "offset"),
    "redelivery": (*OWNED, "offset"),
}
"""By check, what tells its rows apart: what a plant foretells."""
COLUMNS: dict[str, tuple[str, ...]] = {
    "inconsistent_offset": (*KEYS["inconsistent_offset"], "read", "acknowledged"),
    "duplicate_in_log": (
        *VALUE, *PLACE, "offset", "other_topic", "other_partition", "other_offset", "outcome", "idempotent",
    ),
    "lost": ("kind", "acknowledged", *VALUE, *PLACE, "offset", "acks"),
    "send_order": (*VALUE, *PLACE, "offset", "earlier_seq", "earlier_offset", "outcome", "earlier_outcome"),
    "poll_skip": (*MEMBER, "group", "assignment", *PLACE, "before", "skipped", "offset", "before_poll", "poll"),
    "poll_order": (*MEMBER, "group", "assignment", *PLACE, "before", "offset", "before_poll", "poll", "n"),
    "unseen": ("group", *VALUE, *PLACE, "offset", "reached"),
    "commit_skip": (*OWNED, "offset", *VALUE, "committed"),
    "redelivery": (*OWNED, "offset", "deliveries", "committed"),
}  # fmt: skip
"""By check, what of its rows the reference computes too."""
TELLING = ("violation", "allowed", "unproven")
"""Severities that a flawless run has none of."""

Rows = dict[str, list[Row]]
"""By check, its rows: of the reference, or of the evidence."""


def compared(check: str, rows: Iterable[Row]) -> Counter[tuple[Any, ...]]:
    """The rows as tuples of severity and the columns that are compared."""
    return Counter((row["severity"], *(row[name] for name in COLUMNS[check])) for row in rows)


def telling(rows: Rows) -> set[Planted]:
    """What the rows tell that is not mere information, as plants foretell it."""
    return {
        Planted(check, row["severity"], tuple(row[name] for name in KEYS[check]))
        for check, found in rows.items()
        if check in KEYS
        for row in found
        if row["severity"] in TELLING
    }
