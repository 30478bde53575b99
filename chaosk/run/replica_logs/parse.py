"""Strict parser of the output of ``hosts/scripts/dump.sh``. Pure."""

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
    """A batch in a log: equal batches have the same bytes, as far as their CRC tells, and the same leader epoch."""

    first: int
    last: int
    leader_epoch: int
    crc: int


class Marker(NamedTuple):
    """The marker of a transaction's end in a log."""

    offset: int
    producer_id: int
    producer_epoch: int
    kind: str
    """``commit`` or ``abort``."""


@dataclass(slots=True)
class TransactionSpan:
    """A range of offsets in which only one producer wrote, in one transaction."""

    first: int
    last: int
    producer_id: int
    producer_epoch: int
    marker: int | None = None
    """Offset of the marker that ended the transaction; None if there is none."""


@dataclass(slots=True)
class DumpedLog:
    """The answer for one partition's log."""

    name: str
    """Topic and partition, like ``orders-0``."""
    first: int | None = None
    """Base offset of its first segment."""
    end: int | None = None
    """One past the last offset that was read."""
    markers: list[Marker] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    """Batches with requested offsets."""
    stretches: list[TransactionSpan] = field(default_factory=list)
    trouble: str | None = None
    """Reason why it is incomplete; None if it is complete."""


@dataclass(frozen=True, slots=True)
class DumpAnswer:
    """The answer of one host."""

    logs: dict[str, DumpedLog]
    """By name, in the host's order."""
    stopped: str | None
    """Reason why it is incomplete; None if it is complete."""

    def log(self, name: str) -> DumpedLog:
        """Return the answer for a log; with ``trouble`` if there is none."""
        return self.logs.get(name) or DumpedLog(name, trouble=self.stopped or "missing in the answer of its host")


def read(host: str, said: str) -> DumpAnswer:
    """Parse a host's answer; raises StepError for a malformed line.

    If the answer stops early, its last log is marked as incomplete.
    """
    found: dict[str, DumpedLog] = {}
    log: DumpedLog | None = None
    stopped: str | None = "the tool did not get to its end"
    full = False
    for kind, words in _lines(host, said):
        match kind:
            case "absent":
                found[words[0]] = DumpedLog(words[0], trouble="it is in none of the broker's data directories")
            case "log":
                log = found.setdefault(words[0], DumpedLog(words[0]))
            case "full":
                full = True
            case "status":
                stopped = None if words[0] == "0" else f"the tool ended with {words[0]}"
            case _:
                if log is None:
                    raise StepError(f"{host}: the dump of its logs has a line without a log: {kind} {' '.join(words)}")
                _add(log, kind, words)
    if full:
        stopped = "there is more than can be fetched"
    if stopped is not None and log is not None:
        log.trouble = log.trouble or stopped
    return DumpAnswer(found, stopped)


def _lines(host: str, said: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each line's first word and fields; text after the last newline was cut off and is ignored."""
    for line in said.split("\n")[:-1]:
        kind = line.partition(" ")[0]
        found = _FORMS[kind].fullmatch(line) if kind in _FORMS else None
        if found is None:
            raise StepError(f"{host}: cannot parse the dump of its logs: {line[:200]!r}")
        yield kind, found.groups()


def _add(log: DumpedLog, kind: str, words: tuple[str, ...]) -> None:
    """Add one line to a log."""
    if kind == "strange":
        log.trouble = log.trouble or f"unknown line in the output of the tool: {words[0]}"
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
        log.stretches.append(TransactionSpan(*numbers))


def _end(log: DumpedLog, marker: Marker) -> None:
    """End the transaction of the marker's producer, of any epoch: a fencing coordinator writes a higher epoch."""
    log.markers.append(marker)
    for stretch in reversed(log.stretches):
        if stretch.producer_id == marker.producer_id:
            if stretch.marker is not None:
                return
            stretch.marker = marker.offset
