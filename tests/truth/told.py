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
    "swallowed": (*OWNED, "offset"),
    "aborted_read": VALUE,
    "precommitted_read": (*MEMBER, *PLACE, "offset", *VALUE),
    "torn_transaction": ("txn",),
    "zombie_write": ("kind", *VALUE),
    "fenced_late": ("txn",),
    "late_write": ("kind", *VALUE, *PLACE, "offset"),
    "eos": (*OWNED, "offset", "kind"),
    "abort_rewind": ("kind", *MEMBER, *PLACE, "assignment", "txn"),
    "commit_regression": ("kind", *MEMBER, *OWNED, "assignment", "offset"),
    "commit_ahead": (*MEMBER, *PLACE, "offset"),
    "reset_jump": ("kind", *MEMBER, *PLACE, "assignment"),
    "double_ownership": (*OWNED, *MEMBER, "assignment", "other", "other_incarnation", "other_assignment"),
    "consume_while_unassigned": (*MEMBER, *PLACE, "poll"),
    "lost_write": VALUE,
    "unknown_value": (*PLACE, "offset", *VALUE),
    "stale_append": VALUE,
    "leader_epoch_regression": (*PLACE, "offset"),
    "end_offset_regression": (*PLACE, "leader", "leader_epoch"),
    "truncation_after_ack": (*PLACE, "leader", "leader_epoch"),
    "ack_below_min_isr": (*PLACE, "first"),
    "stuck_consumer": ("reader", *PLACE, *MEMBER),
    "stuck_lso": (*PLACE, "last_stable"),
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
    "swallowed": (*OWNED, "offset", *VALUE, "attempts", "handling", "letters", "committed"),
    "aborted_read": ("kind", *VALUE, *PLACE, "offset", "error", "txn"),
    "precommitted_read": (*MEMBER, "group", *PLACE, "offset", *VALUE, "txn", "at", "ending", "outcome"),
    "torn_transaction": ("txn", *VALUE, "outcome", "visible", "missing", *PLACE, "offset"),
    "zombie_write": ("kind", *VALUE, *PLACE, "offset", "outcome", "txn", "transactional_id", "succeeded"),
    "fenced_late": (
        "txn", "transactional_id", *VALUE[:2], "producer_epoch", "ending", "ended", "succeeded", "records",
    ),
    "late_write": (*KEYS["late_write"], "txn", "producer_id", "marker", "owner"),
    "eos": ("kind", *OWNED, "offset", "outputs", "attempts", "committed", "into"),
    "abort_rewind": (*KEYS["abort_rewind"], "outcome", "first", "last", "next", "expected"),
    "commit_regression": (*KEYS["commit_regression"], "committed"),
    "commit_ahead": (*KEYS["commit_ahead"], "group", "assignment", "position", "skipped"),
    "reset_jump": (*KEYS["reset_jump"], "group", "committed", "offset", "skipped"),
    "double_ownership": (*KEYS["double_ownership"], "how", "records", "other_records", "seconds"),
    "consume_while_unassigned": (
        *KEYS["consume_while_unassigned"], "group", "assignment", "offset", "records", "given", "taken",
    ),
    "lost_write": (*VALUE, *PLACE, "offset", "acks"),
    "unknown_value": (*KEYS["unknown_value"], "kind", "sightings"),
    "stale_append": (*VALUE, *PLACE, "offset", "reached", "acks"),
    "leader_epoch_regression": (*PLACE, "offset", "before", "before_epoch", "leader_epoch"),
    "end_offset_regression": (*KEYS["end_offset_regression"], "offset", "high_watermark", "samples"),
    "truncation_after_ack": (*KEYS["truncation_after_ack"], "offset", "log_end", "samples"),
    "ack_below_min_isr": (*KEYS["ack_below_min_isr"], "last", "min_isr", "isr", "samples", "acknowledged"),
    "stuck_consumer": (*KEYS["stuck_consumer"], "assignment", "reached", "first", "waiting"),
    "stuck_lso": (*KEYS["stuck_lso"], "high_watermark", "producer_id", "marker"),
}  # fmt: skip
"""By check, what of its rows the reference computes too."""
TELLING = ("violation", "allowed", "unproven")
"""Severities that a flawless run has none of."""
SUSPICIONS = ("ack_below_min_isr",)
"""Checks whose mere information a flawless run has none of, either."""

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
        if row["severity"] in TELLING or check in SUSPICIONS
    }
