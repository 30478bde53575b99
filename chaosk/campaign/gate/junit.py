"""``junit.xml`` of a gate for a CI server: a test case for every run, and for every compared figure."""

from __future__ import annotations

from collections.abc import Iterator

from junitparser import Error, Failure, Skipped, TestCase

from chaosk.campaign.gate.content import content
from chaosk.campaign.gate.record import Attempt, Gate
from chaosk.core.errors import ExitCode
from chaosk.core.printable import printable
from chaosk.report.junit import Result, case, document


def junit(gate: Gate) -> str:
    """Return the document; deterministic, without its time of creation. It fails exactly if the gate does not pass."""
    told = content(gate)
    return document("gate", (("verdict", told.headline), *told.facts), _cases(gate))


def _cases(gate: Gate) -> Iterator[TestCase]:
    for one in gate.attempts:
        yield case("gate", f"{one.scenario}, run {one.repeat}", _result(one, gate), one.said, one.seconds or 0.0)
    for row in content(gate).compared:
        said = f"{row.name} of {row.scenario}: {row.now}, the baseline {row.before}. {row.why}"
        results: list[Result] = [Failure(printable(said), row.state)] if row.state == "worse" else []
        results += [Error(printable(said), row.state)] if row.state == "not compared" else []
        yield case("baseline", f"{row.scenario}: {row.name}", results, said)


def _result(one: Attempt, gate: Gate) -> list[Result]:
    """Return the results of a run; one that was not made is skipped if another run failed, and else an error."""
    if one.exit_code is None:
        why = printable(gate.why_ended or "it was not run")
        other = any(each.exit_code not in {None, ExitCode.PASS} for each in gate.attempts)
        return [Skipped(why)] if other else [Error(why, "not run")]
    if one.exit_code == ExitCode.PASS:
        return []
    said = printable(one.said or f"ended with {one.exit_code}")
    return [Failure(said, "fail")] if one.exit_code == ExitCode.FAIL else [Error(said, str(one.exit_code))]
