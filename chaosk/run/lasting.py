"""Proof that a fault lasted: finds its holes from a series of looks at it. Pure.

A fault is verified at both ends, and looked at every few seconds in between. Two looks that find it in place do not
prove that it was there between them. So an answer also contains *marks*, which identify the instance: a table of the
packet filter has a unique number, a restarted process another start time, and the threads of a frozen process have
not run in between. A changed mark is a hole of any length. Counters are marks that may only grow.

A look without an answer is neither yes nor no: a host that is too busy to answer is no hole. It matters only if the
host could not look for longer than :data:`LONG`, and no mark proves that the fault was the same before and after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

LONG = 60.0
"""Seconds without a look on the host after which it is unknown if the fault lasted: a dozen looks without an answer,
each of which may take longer than the interval. Clusters react to a missing fault within seconds, but a shorter limit
would reject runs on busy hosts, and both ends are verified in any case."""


@dataclass(frozen=True, slots=True)
class FactCheck:
    """One evaluation of a fact. Times are monotonic nanoseconds."""

    says: str
    """The fact in words: equal for looks at the same fact."""
    earliest: int
    latest: int
    """It was evaluated between ``earliest`` and ``latest``."""
    holds: bool | None
    """None: it could not be evaluated."""
    seen: str
    """The answer: text for people, and lines ``mark KEY VALUE`` and ``count KEY NUMBER...``."""
    by_host: bool = False
    """True if the harmed host looked itself, which does not depend on a connection to it."""
    remedy: str | None = None

    @property
    def told(self) -> str:
        """The answer for people."""
        lines = (line for line in self.seen.splitlines() if line.partition(" ")[0] not in {"mark", "count"})
        return " ".join(" ".join(lines).split())

    def marks(self) -> dict[str, str]:
        """Return the values that must not change, by key."""
        return dict(self._lines("mark"))

    def counts(self) -> dict[str, tuple[int, ...]]:
        """Return numbers by key that may only grow, and of which none may appear or vanish."""
        return {key: tuple(int(n) for n in values.split() if n.isdecimal()) for key, values in self._lines("count")}

    def _lines(self, kind: str) -> Iterator[tuple[str, str]]:
        words = (line.split(" ", 2) for line in self.seen.splitlines() if line.startswith(f"{kind} "))
        yield from ((each[1], each[2]) for each in words if len(each) == 3)


@dataclass(frozen=True, slots=True)
class Hole:
    """A time in which a fault was not in place, according to the looks."""

    last: FactCheck
    """The last look before it that found the fault in place."""
    missing: tuple[FactCheck, ...]
    """The looks that did not find it; empty if only its marks prove the hole."""
    back: FactCheck | None
    """The first look that found it in place again; None if none did."""

    def words(self, since: int, end: int) -> str:
        """Return a sentence with the missing fact and the duration; ``since`` is the fault's start, ``end`` its end."""
        when = [f"last seen in place {_after(self.last.earliest, since)}"]
        if self.missing:
            shown = self.missing[0]
            what = f"not seen: {shown.says} ({shown.told})"
            when.append(f"first seen missing {_after(shown.latest, since)}")
        else:
            shown = self.back or self.last
            what = f"it ended and came back between two looks: {shown.says} ({shown.told}), but another one"
        if self.back is None:
            what = f"before undoing it, {what}"
        else:
            when.append(f"seen back {_after(self.back.latest, since)}")
        remedy = f"; {shown.remedy}" if shown.remedy else ""
        return f"did not last: {what}, {self._length(end)}: {', '.join(when)}{remedy}"

    def _length(self, end: int) -> str:
        """Return the minimum and maximum duration of the hole."""
        most = ((self.back.latest if self.back is not None else end) - self.last.earliest) / 1e9
        if not self.missing:
            return f"for up to {most:.1f} s"
        until = self.missing[-1].earliest if self.back is not None else end
        least = (until - self.missing[0].latest) / 1e9
        return f"for {max(least, 0.0):.1f} s to {most:.1f} s"


def _after(at: int, since: int) -> str:
    return f"{max(0.0, (at - since) / 1e9):.1f} s after it took"


def lasted(looks: Sequence[FactCheck], since: int, end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the reasons why a fault did not last, in sentences, and other messages about its looks.

    ``looks`` includes those that verified it, in place ``since``, and those right before its undo, the last ones at
    ``end``.
    """
    why: list[str] = []
    told: list[str] = []
    for says in dict.fromkeys(look.says for look in looks):
        mine = _in_order(look for look in looks if look.says == says and look.latest <= end)
        holes = _holes(mine)
        seen = [hole for hole in holes if hole.missing]  # these tell who ended it
        why += [hole.words(since, end) for hole in (seen or holes)[:1]]
        if len(holes) > 1:
            why[-1] += f"; and {len(holes) - 1} more times"
        if (dark := _dark(mine)) is not None:
            seconds, matters = dark
            line = f"not checked for {seconds:.1f} s: {says}"
            if matters and not holes:
                why.append(f"not known to have lasted: {line}")
            elif not matters:
                told.append(line)
    return tuple(why), tuple(told)


def _in_order(looks: Iterable[FactCheck]) -> list[FactCheck]:
    """Return the looks from the first that found it in place on; before that, it may not have come about."""
    every = sorted(looks, key=lambda look: look.latest)
    first = next((at for at, look in enumerate(every) if look.holds), len(every))
    begun = every[first].latest if first < len(every) else 0
    return [look for look in every[first:] if look is every[first] or look.earliest >= begun]


def _holes(looks: Sequence[FactCheck]) -> list[Hole]:
    found: list[Hole] = []
    last: FactCheck | None = None
    missing: list[FactCheck] = []
    known = _Known()
    for look in looks:
        if look.holds is None:
            continue
        if not look.holds:
            missing.append(look)
            continue
        same = known.still(look)
        if last is not None and (missing or not same):
            found.append(Hole(last, tuple(missing), look))
        last, missing = look, []
    if missing and last is not None:
        found.append(Hole(last, tuple(missing), None))
    return found


class _Known:
    """The last seen marks."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}
        self._counts: dict[str, tuple[int, ...]] = {}

    def still(self, look: FactCheck) -> bool:
        """Return False if a mark changed or a counter fell since the last looks; then remember this look's."""
        marks, counts = look.marks(), look.counts()
        same = all(self._marks.get(key, value) == value for key, value in marks.items())
        grown = all(_grown(self._counts.get(key, now), now) for key, now in counts.items())
        self._marks |= marks
        self._counts |= counts
        return same and grown


def _grown(then: tuple[int, ...], now: tuple[int, ...]) -> bool:
    return len(then) == len(now) and all(old <= new for old, new in zip(then, now, strict=True))


def _dark(looks: Sequence[FactCheck]) -> tuple[float, bool] | None:
    """Return the longest time without an answer, and True if it matters; None if it is below the limit."""
    longest: tuple[float, bool] | None = None
    answered = [look for look in looks if look.holds is not None]
    watched_there = any(look.by_host for look in looks)
    for one, two in pairwise(answered):
        seconds = (two.earliest - one.latest) / 1e9
        if seconds > LONG and (longest is None or seconds > longest[0]):
            longest = seconds, watched_there and not _same(one, two)
    return longest


def _same(one: FactCheck, two: FactCheck) -> bool:
    """Return True if both looks have a common mark: changed marks are found elsewhere."""
    return bool(one.marks().keys() & two.marks().keys())
