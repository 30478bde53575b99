"""``explore.md``: an exploration for people, short, every value escaped for Markdown and for HTML in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chaosk.campaign.explore.outcome import exit_code
from chaosk.campaign.explore.record import Exploration, FailingSequence, Trial
from chaosk.campaign.explore.sequence import DrawnFault, entry, kind_of
from chaosk.campaign.explore.space import Space
from chaosk.campaign.gate.outcome import state_of
from chaosk.core.errors import ExitCode
from chaosk.core.figures import counted, metric_name, seconds
from chaosk.core.units import format_duration
from chaosk.report.markdown import rendered
from chaosk.report.words import SIGNS

_TONES = {ExitCode.PASS: "pass", ExitCode.FAIL: "violation", ExitCode.NOT_HEALED: "violation"}


def headline(told: Exploration) -> str:
    """Return one line: the failing sequence, or the extent of an exploration without one."""
    said = _nothing(told) if told.found is None else _found(told, told.found)
    first = {ExitCode.NOT_HEALED: "NOT HEALED — ", ExitCode.INTERRUPTED: "INTERRUPTED — "}
    return first.get(exit_code(told), "") + said


def _found(told: Exploration, found: FailingSequence) -> str:
    what = ", ".join(map(metric_name, found.breaches))
    said = f"FOUND — {what} in round {found.round} of seed {told.seed}, {counted(len(found.sequence), 'fault')}"
    if told.smallest is None:
        return said
    left = len(told.smallest.sequence)
    return f"{said}, of which {left} {'is' if left == 1 else 'are'} enough"


def _nothing(told: Exploration) -> str:
    rounds = told.of("round")
    carried = sum(one.attempt.exit_code == ExitCode.PASS for one in rounds)
    return f"NOTHING FOUND — {counted(len(rounds), 'round')} of seed {told.seed}, the evidence of {carried} carries"


def markdown(told: Exploration, space: Space, again: str) -> str:
    """Return the report, headline first; ``again`` is the command that runs the failing sequence again."""
    sequences = (("The smallest that fails alike", told.smallest), ("As it was found", told.found))
    trials = (("Rounds", "round", "round"), ("Smaller sequences", "sequence", "smaller"))
    values = {
        "sign": SIGNS[_TONES.get(exit_code(told), "inconclusive")],
        "headline": headline(told),
        "name": told.name,
        "hypothesis": space.scenario["hypothesis"],
        "why_ended": told.why_ended,
        "again": again,
        "sequences": [(title, _moves(found.sequence, space)) for title, found in sequences if found is not None],
        "trials": [(title, noun, [_trial(one) for one in told.of(kind)]) for title, noun, kind in trials],
        "facts": [f"{name} {value}" for name, value in _facts(told)],
    }
    return rendered("chaosk.campaign.explore", "explore.md.j2", values)


def _moves(every: Sequence[DrawnFault], space: Space) -> list[tuple[str, str, str, str]]:
    rows = [_move(move, every[n - 1].name if n else None, space) for n, move in enumerate(every)]
    return rows or [("none", "", "", "")]


def _move(move: DrawnFault, before: str | None, space: Space) -> tuple[str, str, str, str]:
    told = entry(space, move)
    step = kind_of(told)
    fields = told[step]
    what = ", ".join(f"{key} {_plain(value)}" for key, value in fields.items()) if isinstance(fields, dict) else ""
    start = format_duration(move.start)
    starts = f"at {start}" if space.explore.overlap or before is None else f"{start} after {before}"
    return move.name, f"{step}: {what}", starts, str(told.get("for", ""))


def _plain(value: object) -> str:
    return ", ".join(map(_plain, value)) if isinstance(value, list) else str(value)


def _trial(one: Trial) -> tuple[str, ...]:
    return (
        str(one.number),
        ", ".join(one.steps) or "none",
        f"{SIGNS.get(state_of(one.attempt), '·')} {one.attempt.said or one.attempt.exit_code}",
        ", ".join(map(metric_name, one.breaches)),
        seconds(one.attempt.seconds or 0.0),
        one.attempt.folder or "",
    )


def _facts(told: Exploration) -> Iterator[tuple[str, object]]:
    yield "space", told.space
    yield "seed", told.seed
    yield "began", told.began
    if redrawn := sum(one.redrawn for one in told.of("round")):
        yield "refused draws", redrawn
    if told.inventory:
        yield "inventory", told.inventory
    clusters = dict.fromkeys(one.attempt.cluster for one in told.trials if one.attempt.cluster)
    kafka = dict.fromkeys(one.attempt.kafka for one in told.trials if one.attempt.kafka)
    yield from (("cluster", each) for each in clusters)
    yield from (("Kafka", each) for each in kafka)
    yield from told.versions.items()
