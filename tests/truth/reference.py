"""Every rule once more, slowly and in plain Python, from the definitions: what Spark's answer is compared with."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from truth.reference_cluster import (
    ack_below_min_isr,
    end_offset_regression,
    leader_epoch_regression,
    lost_write,
    stale_append,
    truncation_after_ack,
    unknown_value,
)  # fmt: skip
from truth.reference_commits import commit_ahead, commit_regression, reset_jump
from truth.reference_ends import stuck_consumer, stuck_lso
from truth.reference_failures import swallowed
from truth.reference_log import duplicate_in_log, inconsistent_offset, lost, send_order
from truth.reference_members import consume_while_unassigned, double_ownership
from truth.reference_pipes import abort_rewind, eos
from truth.reference_reading import commit_skip, poll_order, poll_skip, redelivery, unseen
from truth.reference_txn import (
    aborted_read,
    fenced_late,
    late_write,
    precommitted_read,
    torn_transaction,
    zombie_write,
)  # fmt: skip
from truth.story import Story, member_of
from truth.told import Rows

RULES = {
    rule.__name__: rule
    for rule in (
        inconsistent_offset, duplicate_in_log, lost, send_order, poll_skip, poll_order, unseen, commit_skip, redelivery,
        swallowed, aborted_read, precommitted_read, torn_transaction, zombie_write, fenced_late, late_write,
        eos, abort_rewind, commit_regression, commit_ahead, reset_jump, double_ownership, consume_while_unassigned,
        lost_write, unknown_value, stale_append, leader_epoch_regression, end_offset_regression, truncation_after_ack,
        ack_below_min_isr, stuck_consumer, stuck_lso,
    )
}  # fmt: skip
"""By check, its reference."""


def reference(story: Story, checks: Collection[str] = tuple(RULES)) -> Rows:
    """By check, the rows it must have for a story."""
    told = _as_told(story)
    return {name: list(rule(told)) for name, rule in RULES.items() if name in checks}


def _as_told(story: Story) -> Story:
    """The story without offsets that no broker told: of sends with ``acks=0``, and of those that met an error."""
    deaf = {member_of(row) for row in story.rows["incarnations"] if row["acks"] == 0}
    silent = [
        member_of(row) in deaf or row["outcome"] == "fail" or row["error"] is not None for row in story.rows["sends"]
    ]
    sends = [
        row | ({"offset": None} if untold else {}) for row, untold in zip(story.rows["sends"], silent, strict=True)
    ]
    return replace(story, rows=story.rows | {"sends": sends})
