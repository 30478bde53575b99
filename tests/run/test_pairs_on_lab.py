"""Runs that come to a cluster at the same moment: its hosts let exactly one of them in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from bare_hosts import Bare, bare

from chaosk.core.errors import PreflightError
from chaosk.hosts import lock
from chaosk.hosts.transport.ssh import Ssh
from chaosk.run.lock_keeper import LockKeeper

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300), pytest.mark.long]

PAIRS = 50


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """Three hosts."""
    with bare("pairs") as here:
        yield here


def test_of_every_pair_exactly_one_goes_on(hosts: Bare) -> None:
    """Fifty times two, each with connections of its own: one has the lock of all hosts, the other's of none.

    Who is refused learns whose run it is. The hosts are what they meet at, so threads do as well as processes.
    """
    ways = [Ssh(hosts.inventory.hosts) for _ in range(2)]
    names = tuple(hosts.inventory.hosts)
    wins = [0, 0]
    try:
        for number in range(PAIRS):
            runs = [f"run-{number}-{side}" for side in range(2)]
            gate = threading.Barrier(2, timeout=30)

            def come(side: int, runs: list[str] = runs, gate: threading.Barrier = gate) -> LockKeeper | str:
                holding = LockKeeper(ways[side], names, runs[side], "tests", _lost)
                gate.wait()
                try:
                    holding.take()
                except PreflightError as error:
                    return str(error)
                return holding

            with ThreadPoolExecutor(2) as pool:
                outcomes = list(pool.map(come, range(2)))
            (winner,) = [side for side, outcome in enumerate(outcomes) if isinstance(outcome, LockKeeper)]
            refusal, holding = outcomes[1 - winner], outcomes[winner]
            assert isinstance(refusal, str)
            assert f"another run is on this cluster: held by the run {runs[winner]} of tests" in refusal
            assert {ways[0].run(lock.show(name)).stdout.split()[0] for name in names} == {runs[winner]}
            assert isinstance(holding, LockKeeper)
            holding.leave()
            wins[winner] += 1
        assert {ways[0].run(lock.show(name)).stdout for name in names} == {""}
    finally:
        for way in ways:
            way.close()
    assert min(wins) > 0, "they never came at the same moment: this proves little"


def _lost(why: str) -> None:
    raise AssertionError(why)
