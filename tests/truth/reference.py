"""Every rule once more, slowly and in plain Python, from the definitions: what Spark's answer is compared with."""

from __future__ import annotations

from truth.reference_log import duplicate_in_log, inconsistent_offset, lost, send_order
from truth.reference_reading import commit_skip, poll_order, poll_skip, redelivery, unseen
from truth.story import Story
from truth.told import Rows

RULES = {
    rule.__name__: rule
    for rule in (
        inconsistent_offset, duplicate_in_log, lost, send_order, poll_skip, poll_order, unseen, commit_skip, redelivery,
    )
}  # fmt: skip
"""By check, its reference."""


def reference(story: Story) -> Rows:
    """By check, the rows it must have for a story."""
    return {name: list(rule(story)) for name, rule in RULES.items()}
