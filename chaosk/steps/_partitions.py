"""Shared base of steps that move or make partitions."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.spec.contracts.step import Fact, Site
from chaosk.steps._phases import PhasedStep

Numbers = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(strict=False, min_length=1)]
"""Partitions of a topic."""

OWNED = 30.0
"""Time-out in seconds until the owner of a topic is known: a group's coordinator has it, and may be moving."""
DOUBT = 5.0
"""Seconds for which brokers may not know a topic that was just created."""


class TopicStep(PhasedStep, ABC):
    """A step on the replicas of a topic; two of them on one topic exclude each other."""

    lasting: ClassVar[bool] = False

    topic: str
    """The topic, one of the scenario's."""

    def targets(self) -> tuple[str, ...]:
        """Return none: the controller does it."""
        return ()

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """Yield the topic's replicas."""
        yield f"the replicas of {self.topic}"


def moving(topic: str, partitions: tuple[int, ...] | None, within: float = 10.0) -> Fact:
    """Expect a reassignment to be in progress."""
    return Fact(says=f"{_which(topic, partitions)} is being reassigned", query=_query(topic, partitions), within=within)


def still(topic: str, partitions: tuple[int, ...] | None, within: float) -> Fact:
    """Expect no reassignment to be in progress."""
    if partitions is None or len(partitions) == 1:
        what = _query(topic, partitions)
    else:
        what = f"any({', '.join(_query(topic, (number,)) for number in partitions)})"
    return Fact(says=f"{_which(topic, partitions)} is not being reassigned", query=f"not({what})", within=within)


def owned(topic: str) -> Fact:
    """Require that the topic is one that chaosk created: topics of others are never changed."""
    return Fact(says=f"{topic} is a topic that chaosk made", query=f"own_topic({topic})", within=OWNED, doubt=DOUBT)


def _query(topic: str, partitions: tuple[int, ...] | None) -> str:
    return f"reassigning({', '.join((topic, *map(str, partitions or ())))})"


def _which(topic: str, partitions: tuple[int, ...] | None) -> str:
    return topic if partitions is None else f"{topic} ({', '.join(map(str, partitions))})"
