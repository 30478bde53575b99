"""How checks are asked: a crash is no pass, screens spare queries and hide no row, clocks must be good enough."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from analysis.history import History
from analysis.ways import guards, told
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from chaosk.analysis.analyze import analyze
from chaosk.analysis.check_runner import checks
from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.rundir.verdict import Outcome, Verdict

pytestmark = pytest.mark.spark
Asked = Callable[..., Verdict]


@pytest.fixture
def asked(spark: SparkSession, tmp_path: Path) -> Asked:
    """Judges a history by checks of the test's own."""

    def judge(history: History, **kinds: type[Check]) -> Verdict:
        return analyze(spark, history.write(tmp_path / "run"), kinds)

    return judge


class Odd(Check):
    """Complains of every record with an odd offset."""

    rule = "X1"
    title = "odd offsets"
    counted = ("odd offset", "odd offsets")
    tables = ("reads",)
    order = ("offset",)

    def violations(self, events: Events) -> DataFrame:
        """Rows with an odd offset."""
        rows = events.table("reads").filter(F.col("offset") % 2 == 1)
        return (
            rows.withColumns(meaning(otherwise=("violation", None)))
            .withColumns(during("at", "at"))
            .select(*MEANING, "offset")
        )


class Lazy(Odd):
    """Like Odd, but only where something was lost."""

    screens = ("missing",)


class Crashing(Odd):
    """Raises what a programmer's mistake raises."""

    def violations(self, events: Events) -> DataFrame:
        """Never answers."""
        raise KeyError("no such thing")


class Misspelt(Odd):
    """Asks for a column that is not there."""

    def violations(self, events: Events) -> DataFrame:
        """Never answers."""
        return events.table("reads").select("ofset")


class Timed(Odd):
    """Compares clocks of hosts, to the millisecond."""

    clock_error = 0.001


def test_a_check_of_ones_own_is_asked_like_any_other(asked: Asked, tmp_path: Path) -> None:
    """Its rows are findings, evidence and a line of the verdict."""
    verdict = asked(History(records=50), odd=Odd)
    assert told(verdict) == {"odd": 25}
    assert verdict.checks == {"odd": "found"}
    assert verdict.findings[0].title == "25 odd offsets"
    assert len(verdict.findings[0].evidence) == 20
    assert (tmp_path / "run" / "evidence" / "odd.jsonl").read_text().count("\n") == 25


@pytest.mark.parametrize("kind", [Crashing, Misspelt])
def test_a_check_that_crashes_is_never_a_pass(asked: Asked, kind: type[Check]) -> None:
    """Its rule is not judged, the others are: INCONCLUSIVE, and the verdict names the check."""
    verdict = asked(History(records=50), mine=kind)
    assert verdict.verdict is Outcome.INCONCLUSIVE
    assert guards(verdict) == {"check_crashed"}
    assert verdict.checks["mine"].startswith("not judged: it crashed")
    assert "mine" in verdict.guards[0].what


def test_a_crash_takes_no_violation_along(asked: Asked) -> None:
    """What another check has proven stands."""
    assert asked(History(records=50), mine=Crashing, odd=Odd).verdict is Outcome.VIOLATION


def test_a_screen_that_finds_nothing_spares_the_check(asked: Asked) -> None:
    """It is clean without being asked; where the screen finds something it is asked."""
    assert told(asked(History(records=50), lazy=Lazy)) == {}
    history = History(records=50)
    history.drop("audit", offset=4)
    assert told(asked(history, lazy=Lazy)) == {"lazy": 25}


@pytest.mark.parametrize(("error", "missing"), [(None, "none was measured"), (5_000_000, "node1")])
def test_clocks_that_are_not_good_enough_leave_a_rule_unjudged(asked: Asked, error: int | None, missing: str) -> None:
    """A rule that compares clocks of hosts says how far they may be off; the worst host counts."""
    history = History(records=50)
    if error is not None:
        history.add("host_clocks", host="node0", at=1, offset=0, error=1_000)
        history.add("host_clocks", host="node1", at=1, offset=0, error=error)
    verdict = asked(history, timed=Timed)
    assert guards(verdict) == {"clock_error"}
    assert missing in verdict.guards[0].what
    assert told(verdict) == {}


def test_clocks_that_are_good_enough(asked: Asked) -> None:
    """Near miss: known to the microsecond."""
    history = History(records=50)
    history.add("host_clocks", host="node1", at=1, offset=0, error=1_000)
    assert told(asked(history, timed=Timed)) == {"timed": 25}


def checked(history: History) -> History:
    """A probe checks the health of broker 1, which is well."""
    history.probes["health"] = {"health_check": {"rate": "1/s"}}
    history.worker("health", kind="health_check")
    for number in range(25):
        at = number - 5.0
        history.add("health_checks", due=at, began=at, connected=at + 0.002, closed=at + 0.003)
    return history


def called(history: History) -> History:
    """A probe asks the cluster once a second, and is answered."""
    history.probes["caller"] = {"call": {"operation": "metadata", "rate": "1/s"}}
    history.worker("caller", kind="call")
    for number in range(25):
        history.add("calls", began=number - 5.0, completed=number - 4.9)
    return history


def unread(history: History) -> History:
    """The last record was not delivered."""
    history.drop("reads", offset=49)
    return history


@pytest.mark.parametrize(
    ("so", "names"),
    [(checked, None), (called, None), (checked, {"health_checks"}), (called, {"calls"}), (unread, {"end_to_end"})],
)
def test_nothing_stumbles_before_spark_has_started(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    so: Callable[[History], History],
    names: set[str] | None,
) -> None:
    """A check that finds nothing, and needs Spark for its figures, names no column before Spark is there.

    Neither where all checks are asked, nor where it is the only one.
    """

    def start() -> SparkSession:
        monkeypatch.undo()
        return spark

    rundir = so(History(records=50)).write(tmp_path / "run")
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    verdict = analyze(start, rundir, {name: kind for name, kind in checks().items() if names is None or name in names})
    assert "check_crashed" not in guards(verdict)
