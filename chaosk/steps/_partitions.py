"""What the steps that move partitions have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from chaosk.spec.contracts.step import Fact

Numbers = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(strict=False, min_length=1)]
"""Partitions of a topic."""

OWNED = 30.0
"""Seconds until it is known whose a topic is: a group's coordinator keeps that, and may be moving."""
DOUBT = 5.0
"""Seconds for which brokers may not have heard of a topic that was made anew."""


def same_topic(topic: str) -> str:
    """What two of them must not change at the same time."""
    return f"the replicas of {topic}"


def moving(topic: str, partitions: tuple[int, ...] | None, within: float = 10.0) -> Fact:
    """A reassignment is under way."""
    return Fact(says=f"{_which(topic, partitions)} is being reassigned", query=_query(topic, partitions), within=within)


def still(topic: str, partitions: tuple[int, ...] | None, within: float) -> Fact:
    """None is."""
    if partitions is None or len(partitions) == 1:
        what = _query(topic, partitions)
    else:
        what = f"any({', '.join(_query(topic, (number,)) for number in partitions)})"
    return Fact(says=f"{_which(topic, partitions)} is not being reassigned", query=f"not({what})", within=within)


def owned(topic: str) -> Fact:
    """The topic of that name is the one that chaosk made: nobody else's is changed."""
    return Fact(says=f"{topic} is a topic that chaosk made", query=f"own_topic({topic})", within=OWNED, doubt=DOUBT)


def _query(topic: str, partitions: tuple[int, ...] | None) -> str:
    return f"reassigning({', '.join((topic, *map(str, partitions or ())))})"


def _which(topic: str, partitions: tuple[int, ...] | None) -> str:
    return topic if partitions is None else f"{topic} ({', '.join(map(str, partitions))})"
