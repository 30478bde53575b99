"""Predicted violations of a scenario, by count or by rule, with their subjects; they excuse nothing else.

``lost_records: {loose: {min: 1}}`` names a figure and a topic, ``rules: {B3: [readers]}`` a rule and a group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chaosk.spec.bounds import Bound
from chaosk.spec.expect import Expect
from chaosk.spec.metrics import METRICS

RULES = (
    "A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A10", "A11", "A13", "A14", "A15", "A16",
    "B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8", "B9", "B10", "B11",
    "C1", "C2", "C3", "C4", "C5", "C6",
)  # fmt: skip
"""Rules that can be broken, by the ids of findings; other rules only measure, or are reported under one of these."""

_LOSS = (
    "lost", "lost_write", "inconsistent_offset", "truncation_after_ack", "end_offset_regression", "stale_append",
    "leader_epoch_regression",
)  # fmt: skip
PREDICTED_BY = {
    "lost_records": _LOSS,
    "lost_share": _LOSS,
    "duplicate_records": ("duplicate_in_log",),
    "duplicate_share": ("duplicate_in_log",),
    "reordered_records": ("send_order",),
    "redelivered_records": ("redelivery", "commit_regression", "reset_jump"),
    "redelivered_share": ("redelivery", "commit_regression", "reset_jump"),
    "unseen_records": ("unseen", "poll_skip", "commit_skip"),
    "skipped_records": ("commit_skip", "unseen", "poll_skip"),
    "swallowed_records": ("swallowed",),
    "failed_records": (),
    "uncertain_records": (),
}  # fmt: skip
"""Metrics that count violations, with the checks whose findings a lower bound on them predicts.

Those findings have the same cause as the predicted one. A truncated log ends too early and assigns its offsets again. A
reader that misses a record skipped it. A reader that gets committed records again started at an offset that had gone
back, because a member committed it; an acknowledged commit that the cluster lost has another cause (``_UNPREDICTED``).
The checks in ``FOLLOWING`` share the cause only in a partition that lost records, at or above the lowest of these.
"""
_UNPREDICTED = {"commit_regression": frozenset({"lost_commit"})}
"""Kinds of rows, by check, that no figure predicts: they need a prediction of their rule."""
FOLLOWING = frozenset(_LOSS) - {"lost", "lost_write"}
"""Checks that report consequences of a loss, in the partition with the loss."""
NAMING = tuple(metric for metric, checks in PREDICTED_BY.items() if checks)
"""Metrics that name a violation, if they have a lower bound."""

Windows = Mapping[str, tuple[int, int]]
"""Start and end by window name, monotonic nanoseconds."""
Losses = Mapping[tuple[object, object], int]
"""Lowest offset that was lost, by topic and partition; 0 if it is unknown."""
RowLike = Mapping[str, object]
_COLUMNS = {
    "topic": ("topic", "other_topic"),
    "group": ("group",),
    "probe": ("probe", "producer", "other"),
    "reader": ("reader",),
}
"""Columns of evidence that name a subject, by kind of subject."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One predicted result: findings of some checks, or of a rule, for some subjects in a window."""

    metric: str | None = None
    """The predicted metric, and its bound; None if a rule is predicted."""
    subject: str = ""
    bound: Bound | None = None
    rule: str | None = None
    subjects: frozenset[str] = frozenset()
    """Subjects of the findings; empty for any."""
    must: bool = True
    """True if the run is inconclusive without it; for a metric, its bound decides."""

    @property
    def window(self) -> str:
        """The window; ``run`` for any time."""
        return "run" if self.bound is None else self.bound.during

    def is_about(self, check: str, rule: str) -> bool:
        """Return True if the prediction concerns findings of a check that judges ``rule``."""
        return rule == self.rule if self.metric is None else check in PREDICTED_BY[self.metric]

    def covers(self, check: str, row: RowLike, windows: Windows, lost: Losses | None = None) -> bool:
        """Return True if a row of evidence matches subjects and window, and follows from the predicted result.

        ``lost``: the partitions that lost records; None if unknown. A row without the necessary columns is not covered.
        """
        if self.metric is not None and row.get("kind") in _UNPREDICTED.get(check, ()):
            return False
        if self.metric is not None and check in FOLLOWING and lost is not None and not _follows(row, lost):
            return False
        return self._is_whose(row) and self._is_when(row, windows)

    @property
    def anywhere(self) -> bool:
        """True if it names neither subjects nor a window."""
        return not self.subjects and self.window == "run"

    def _is_whose(self, row: RowLike) -> bool:
        if not self.subjects:
            return True
        if self.metric is not None:
            named = _named(row, METRICS[self.metric].subject)
            return bool(named) and named <= self.subjects
        # a rule may have subjects of several kinds: once one of a kind is named, no other of that kind is covered
        every = [named for kind in _COLUMNS if (named := _named(row, kind))]
        return any(named & self.subjects for named in every) and all(
            named <= self.subjects or not named & self.subjects for named in every
        )

    def _is_when(self, row: RowLike, windows: Windows) -> bool:
        if self.window == "run":
            return True
        times = [time for time in (row.get("began"), row.get("ended")) if isinstance(time, int)]
        span = windows.get(self.window)
        return span is not None and bool(times) and min(times) < span[1] and max(times) >= span[0]


def predictions(expect: Expect) -> tuple[Prediction, ...]:
    """Return all predicted violations: by lower bounds on counts of them, and by rules."""
    return (*_by_figures(expect), *_by_rules(expect))


def _by_figures(expect: Expect) -> Iterator[Prediction]:
    for metric, subjects in sorted(expect.bounds.items()):
        for subject, bounds in sorted(subjects.items()) if metric in NAMING else ():
            for bound in bounds:
                if (bound.min or 0) > 0:
                    whose = frozenset(bound.of or ((subject,) if subject else ()))
                    yield Prediction(metric=metric, subject=subject, bound=bound, subjects=whose)


def _by_rules(expect: Expect) -> Iterator[Prediction]:
    for rule, whose, must in () if expect.rules is None else expect.rules.every:
        yield Prediction(rule=rule, subjects=whose, must=must)


def _follows(row: RowLike, lost: Losses) -> bool:
    """Return True if the offsets of a row reach up to the lowest one that its partition lost."""
    offsets = [offset for offset in (row.get("offset"), row.get("reached")) if isinstance(offset, int)]
    lowest = lost.get((row.get("topic"), row.get("partition")))
    return lowest is not None and bool(offsets) and max(offsets) >= lowest


def _named(row: RowLike, kind: str) -> frozenset[str]:
    """Return the subjects of a kind that a row names; a recreated topic counts as the same topic."""
    values = (row.get(column) for column in _COLUMNS[kind])
    return frozenset(value.partition(" (")[0] for value in values if isinstance(value, str) and value)
