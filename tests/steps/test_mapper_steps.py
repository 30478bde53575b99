"""slow_disk and fail_disk: what they yield, and what is refused."""

from __future__ import annotations

import pytest

from chaosk.spec.contracts.step import Run
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, site, step, told


@pytest.mark.parametrize("text", ["slow_disk: {target: it, write: 200ms}", "fail_disk: {target: it}"])
def test_their_life(inventory: Inventory, text: str) -> None:
    """It can be had, it gets another table and has it; it gets its own back, what ended is started and serves."""
    ill, here = step(text), site(inventory, it=BROKERS[1:2])
    assert told(ill.suits(here)) == ["node2: is", "node2: fits"]
    assert told(ill.before(here)) == ["node2: awake", "node2: is", "node2: fits"]
    assert told(ill.inject(here)) == ["node2: put"]
    assert told(ill.verify(here)) == ["node2: stands"]
    assert told(ill.undo(here)) == ["node2: lift", "node2: start"]
    assert told(ill.healed(here)) == ["node2: gone", "node2: awake", "broker_up(1)"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("slow_disk: {target: it, write: 1.5s, directory: /mnt/more}", ("slow", "0", "1500")),
        ("slow_disk: {target: it, read: 20ms, write: 1ms, directory: /mnt/more}", ("slow", "20", "1")),
        ("fail_disk: {target: it, directory: /mnt/more}", ("all",)),
        ("fail_disk: {target: it, operations: writes, directory: /mnt/more}", ("writes",)),
    ],
)
def test_what_is_done_and_where(inventory: Inventory, text: str, words: tuple[str, ...]) -> None:
    """The same words in every command, so that a lease alone can bring back what it finds; an id of its own."""
    ill, here = step(text), site(inventory, it=BROKERS[:1])
    which = here.mark("/mnt/more")
    whose = ("script", "/run/kafka.pid", "/etc/kafka/server.properties")
    done = [deed.command.argv[4:] for deed in (*ill.inject(here), *ill.undo(here)) if isinstance(deed, Run)][:2]
    assert done == [(action, "", which, "/mnt/more", *whose, *words) for action in ("put", "lift")]


@pytest.mark.parametrize("fields", ["", ", read: 0s", ", read: -1s", ", write: 61s"])
def test_how_slow(fields: str) -> None:
    """A disk that is not slow, or for ever, is a mistake in the file."""
    with pytest.raises(
        ValueError, match=r"write read, write or both|greater than or equal|less than or equal|duration"
    ):
        step(f"slow_disk: {{target: it{fields}}}")
