"""Causes in the report's head: reasons for stalls behind a missed bound or a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from chaosk.report.causes import causes
from chaosk.report.evidence import rows
from chaosk.report.explain import Explanation
from chaosk.report.happenings import Surroundings
from chaosk.report.outages import PartitionOutage
from chaosk.report.source import Source
from chaosk.report.stalls import Stall, named, stalls
from chaosk.report.words import since
from chaosk.rundir.verdict import Outcome, Verdict

MOST = 4
"""Causes shown in the head."""
_ABOUT = frozenset({
    "unavailability", "unavailable_total", "availability", "recovery", "recovery_from_fault", "end_to_end_p99",
    "end_to_end_max", "latency_p99", "latency_max", "rebalances", "realtime_lag",
})  # fmt: skip
"""Metrics that a stall explains."""
_MOST_ROWS = 2_000


def why(source: Source, around: Surroundings, explanations: Sequence[Explanation]) -> tuple[str, ...]:
    """Return the first causes that the events show; empty for a passed run."""
    verdict = source.verdict
    if verdict.verdict is Outcome.PASS:
        return ()
    found = [*_stuck(source, around), *_missed(verdict, around, explanations)]
    return tuple(dict.fromkeys(found))[:MOST]


def _stuck(source: Source, around: Surroundings) -> Iterator[str]:
    """Yield the causes for consumers that never resumed, by group over the whole run."""
    for stall in stalls(_never_went_on(source)):
        yield from causes(stall.longest, stall.places, around)


def _never_went_on(source: Source) -> Iterator[PartitionOutage]:
    for number, row in enumerate(rows(source, "stuck_consumer")):
        place, times = (row.get("topic"), row.get("partition")), (row.get("began"), row.get("ended"))
        if number >= _MOST_ROWS:
            return
        if isinstance(place[1], int) and isinstance(times[0], int) and isinstance(times[1], int):
            who = str(row.get("reader") or row.get("probe") or "")
            yield PartitionOutage(who, "consume", (str(place[0]), place[1]), times[0], times[1], censored=True)


def _missed(verdict: Verdict, around: Surroundings, explanations: Iterable[Explanation]) -> Iterator[str]:
    """Yield the longest stall of each subject with a missed bound, or of any subject if the bound names a fault."""
    longest = sorted(explanations, key=lambda one: -one.stall.longest.seconds)
    for objective in verdict.objectives:
        if objective.met is False and objective.metric in _ABOUT:
            mine = [one for one in longest if _concerns(objective.subject, one.stall, around)]
            for one in (mine or longest)[:1]:
                yield _told(one, around)


def _concerns(subject: str, stall: Stall, around: Surroundings) -> bool:
    return subject == stall.longest.who or subject in around.clients(stall.longest.who)


def _told(one: Explanation, around: Surroundings) -> str:
    outage = one.stall.longest
    at = since(around.axis.seconds(outage.began))
    did = "had nothing acknowledged" if outage.kind == "produce" else "was given nothing"
    return f"{outage.who} {did} of {named(one.stall.places)} from {at}: {one.because}".removesuffix(".")
