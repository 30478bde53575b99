"""Consumer groups, sampled every few seconds in a separate thread, with their changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chaosk.cluster.group_state import GroupState
from chaosk.run.clock import now

PERIOD = 2.0
"""Seconds between two samples of a group."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A group's state, and its observed changes."""

    state: GroupState
    rebalances: int = 0
    """Number of samples with other members or assignments than the sample before."""
    moved: int | None = None
    """When its committed offsets last changed between two samples, monotonic nanoseconds."""


class GroupWatch(threading.Thread):
    """Samples groups until it is ended."""

    def __init__(self, groups: Sequence[str], look: Callable[[str], GroupState]) -> None:
        """``look`` samples one group and raises nothing."""
        super().__init__(name="groups", daemon=True)
        self._look = look
        self._watched = {group: Watched(GroupState(group=group)) for group in dict.fromkeys(groups)}
        self._ended = threading.Event()

    def run(self) -> None:
        """Sample all groups repeatedly."""
        while not self._ended.is_set():
            for group, before in self._watched.items():
                if self._ended.is_set():
                    return
                self._watched[group] = after(before, self._look(group), now())
            self._ended.wait(PERIOD)

    @property
    def watched(self) -> tuple[Watched, ...]:
        """Each group as of the last sample."""
        return tuple(self._watched.values())

    def end(self) -> None:
        """End the thread; a request in progress is not waited for."""
        self._ended.set()


def after(before: Watched, state: GroupState, at: int) -> Watched:
    """Return a group after one more sample; a sample without an answer changes no count."""
    old = before.state
    if state.problem is not None:
        return Watched(replace(old, lag=None, problem=state.problem), before.rebalances, before.moved)
    changed = bool(old.state) and old.generation != state.generation
    moved = bool(old.state) and old.committed != state.committed
    return Watched(state, before.rebalances + changed, at if moved else before.moved)
