"""Parallel calls to hosts: over a network, sequential calls would add up their latencies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def parallel_map(ask: Callable[[T], U], items: Iterable[T]) -> list[U]:
    """Apply ``ask`` to every item in parallel threads, and return the results in the items' order.

    Returns when all calls have finished. If some raised, the exception of the first such item is raised then.
    """
    asked = list(items)
    with ThreadPoolExecutor(max(1, len(asked)), "together") as pool:
        # not map: after an error it drops calls that have not started
        answers = [pool.submit(ask, one) for one in asked]
    return [answer.result() for answer in answers]
