"""Consumer groups, looked at every few seconds by a thread of its own: what changed since the look before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chaosk.cluster.groupstate import GroupState
from chaosk.run.clock import now

PERIOD = 2.0
"""Seconds between two looks at a group."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A group as it is, and what was seen of it over time."""

    state: GroupState
    rebalances: int = 0
    """How often its members or their partitions were others than at the look before."""
    moved: int | None = None
    """When its committed offsets were last seen to have changed, monotonic nanoseconds."""


class GroupWatch(threading.Thread):
    """Looks at groups until it is ended."""

    def __init__(self, groups: Sequence[str], look: Callable[[str], GroupState]) -> None:
        """``look`` asks for one group and raises nothing."""
        super().__init__(name="groups", daemon=True)
        self._look = look
        self._watched = {group: Watched(GroupState(group=group)) for group in dict.fromkeys(groups)}
        self._ended = threading.Event()

    def run(self) -> None:
        """Look, and look again."""
        while not self._ended.is_set():
            for group, before in self._watched.items():
                if self._ended.is_set():
                    return
                self._watched[group] = after(before, self._look(group), now())
            self._ended.wait(PERIOD)

    @property
    def watched(self) -> tuple[Watched, ...]:
        """Each as it was at the last look."""
        return tuple(self._watched.values())

    def end(self) -> None:
        """Look no more; a question that is under way is waited for by nobody."""
        self._ended.set()


def after(before: Watched, state: GroupState, at: int) -> Watched:
    """What is known of a group after one more look; a look that was answered by nobody changes no count."""
    old = before.state
    if state.problem is not None:
        return Watched(replace(old, lag=None, problem=state.problem), before.rebalances, before.moved)
    changed = bool(old.state) and old.generation != state.generation
    moved = bool(old.state) and old.committed != state.committed
    return Watched(state, before.rebalances + changed, at if moved else before.moved)
