"""What ``hosts/scripts/dump.sh`` answers, read strictly. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from chaosk.core.errors import StepError

_FORMS = {
    form.partition(" ")[0]: re.compile(form)
    for form in (
        r"absent (\S+)",
        r"log (\S+)",
        r"segment (\d+)",
        r"batches (\d+) (\d+) (\d+) (\d+)",
        r"batch (\d+) (\d+) (-?\d+) (\d+)",
        r"marker (\d+) (\d+) (\d+) (COMMIT|ABORT)",
        r"reached (\d+)",
        r"strange (.*)",
        r"full",
        r"status (\d+)",
    )
}


class Batch(NamedTuple):
    """What a log holds at some offsets: equal batches are equal byte by byte, but for where they came from."""

    first: int
    last: int
    leader_epoch: int
    crc: int


class Marker(NamedTuple):
    """What ended a transaction in a log."""

    offset: int
    producer_id: int
    producer_epoch: int
    kind: str
    """``commit`` or ``abort``."""


@dataclass(slots=True)
class Stretch:
    """Offsets at which only one producer wrote, in one transaction."""

    first: int
    last: int
    producer_id: int
    producer_epoch: int
    marker: int | None = None
    """The offset of what ended that transaction; None if nothing has."""


@dataclass(slots=True)
class Log:
    """What was said of one partition's log."""

    name: str
    """Topic and partition, like ``orders-0``."""
    first: int | None = None
    """Where its first segment begins."""
    end: int | None = None
    """One past its last offset, as far as it was read."""
    markers: list[Marker] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    """Those that hold offsets that were asked for."""
    stretches: list[Stretch] = field(default_factory=list)
    trouble: str | None = None
    """Why this is not all there is; None if it is."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one host answered."""

    logs: dict[str, Log]
    """By name, in its order."""
    stopped: str | None
    """Why it said no more than that; None if that was all that was asked."""


def read(host: str, said: str) -> Said:
    """What a host answered; raises StepError for a line that makes no sense.

    The log of which it spoke last when it stopped is in trouble.
    """
    found: dict[str, Log] = {}
    log: Log | None = None
    stopped: str | None = "the tool did not get to its end"
    full = False
    for kind, words in _lines(host, said):
        match kind:
            case "absent":
                found[words[0]] = Log(words[0], trouble="it is in none of the broker's data directories")
            case "log":
                log = found.setdefault(words[0], Log(words[0]))
            case "full":
                full = True
            case "status":
                stopped = None if words[0] == "0" else f"the tool ended with {words[0]}"
            case _:
                if log is None:
                    raise StepError(f"{host}: speaks of a log before it says which: {kind} {' '.join(words)}")
                _add(log, kind, words)
    if full:
        stopped = "there is more than can be fetched"
    if stopped is not None and log is not None:
        log.trouble = log.trouble or stopped
    return Said(found, stopped)


def _lines(host: str, said: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each line's first word and the rest; what is behind the last line's end was cut off and does not count."""
    for line in said.split("\n")[:-1]:
        kind = line.partition(" ")[0]
        found = _FORMS[kind].fullmatch(line) if kind in _FORMS else None
        if found is None:
            raise StepError(f"{host}: cannot read what it says of its logs: {line[:200]!r}")
        yield kind, found.groups()


def _add(log: Log, kind: str, words: tuple[str, ...]) -> None:
    """One more line about a log."""
    if kind == "strange":
        log.trouble = log.trouble or f"the tool says what chaosk does not understand: {words[0]}"
        return
    if kind == "marker":
        offset, producer, epoch = map(int, words[:3])
        _end(log, Marker(offset, producer, epoch, words[3].lower()))
        return
    numbers = [int(word) for word in words]
    if kind == "segment":
        log.first = numbers[0] if log.first is None else log.first
        log.end = max(numbers[0], log.end or 0)
    elif kind == "reached":
        log.end = numbers[0] + 1
    elif kind == "batch":
        log.batches.append(Batch(*numbers))
    else:
        log.stretches.append(Stretch(*numbers))


def _end(log: Log, marker: Marker) -> None:
    """A marker ends the transaction of its producer, whatever its epoch: who fences a producer has a higher one."""
    log.markers.append(marker)
    for stretch in reversed(log.stretches):
        if stretch.producer_id == marker.producer_id:
            if stretch.marker is not None:
                return
            stretch.marker = marker.offset
