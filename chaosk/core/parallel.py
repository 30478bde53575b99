"""Ask several at the same time: hosts answer over a network, one after the other is as slow as their number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def together(ask: Callable[[T], U], items: Iterable[T]) -> list[U]:
    """What ``ask`` says of every item, in their order, each in a thread of its own.

    Returns when all have answered; raises then what ``ask`` raised, of the first item for which it did.
    """
    asked = list(items)
    with ThreadPoolExecutor(max(1, len(asked)), "together") as pool:
        answers = [pool.submit(ask, one) for one in asked]  # not map: after an error it drops who has not begun
    return [answer.result() for answer in answers]
