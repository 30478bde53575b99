"""Which records are looked at closely in large runs: each way in which somebody may say something else of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from analysis.history import History
from analysis.transactional import transactional
from pyspark.sql import DataFrame, SparkSession

from chaosk.analysis import events
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.events import Events
from chaosk.analysis.frames.placements import crowded
from chaosk.analysis.frames.suspects import settled, suspected
from chaosk.analysis.spark import tune

pytestmark = [pytest.mark.spark, pytest.mark.long]

RECORDS = 200
"""Of one writer: three blocks of 64 and one of 8."""
ODD = 70
"""A record in the second block."""
SECOND = set(range(64, 128))
NEIGHBOUR = {ODD + 1}
"""The one that changes places with it."""


@pytest.fixture(params=[0, 1], ids=["by Spark", "with numpy"])
def in_memory(request: pytest.FixtureRequest) -> bool:
    """Whether the run fits into memory: then single values are compared with numpy, and not blocks of them."""
    return bool(request.param)


@pytest.fixture
def asked(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, in_memory: bool
) -> Iterator[Callable[..., Events]]:
    """The events of a history, taken for those of a large run."""
    monkeypatch.setattr(events, "SMALL", 0)
    if not in_memory:
        monkeypatch.setattr(events, "GLANCED", 0)
    tune(spark, small=False)
    yield lambda history: Events(spark, read_case(history.write(tmp_path / "run")))
    tune(spark, small=True)


def numbers(frame: DataFrame) -> set[int]:
    """The sequence numbers of rows."""
    return {int(row["seq"]) for row in frame.select("seq").collect()}


def test_what_all_say_the_same_of_is_settled(asked: Callable[..., Events]) -> None:
    """A run in which all went well has nothing to look at, in whatever partition, whole blocks or not."""
    history = History(records=RECORDS)
    found = asked(history)
    for table in ("reads", "audit"):
        assert suspected(found, found.table(table)).count() == 0
        assert settled(found, found.table(table)).count() == found.case.rows[table]
    assert crowds(found) == set()


def _exchanged(history: History) -> None:
    history.change("sends", {"seq": ODD}, offset=ODD + 1)
    history.change("sends", {"seq": ODD + 1}, offset=ODD)


def _without(table: str, **wanted: object) -> Callable[[History], object]:
    return lambda history: history.drop(table, **wanted)


ODDITIES: dict[str, Callable[[History], object]] = {
    "never acknowledged": lambda history: history.change("sends", {"seq": ODD}, outcome="info", offset=None),
    "no send written down": _without("sends", seq=ODD),
    "acknowledged without an offset": lambda history: history.change("sends", {"seq": ODD}, offset=-1),
    "acknowledged at another offset": lambda history: history.change("sends", {"seq": ODD}, offset=5_000),
    "not audited": _without("audit", seq=ODD),
    "not audited at one level": _without("audit", seq=ODD, isolation="read_committed"),
    "audited twice": lambda history: history.audit(5_000, seq=ODD),
    "audited twice at one level": lambda history: history.add(
        "audit", offset=ODD, seq=ODD, isolation="read_uncommitted"
    ),
    "audited at another offset": lambda history: history.change("audit", {"seq": ODD}, offset=5_000),
    "audited in another partition": lambda history: history.change("audit", {"seq": ODD}, partition=7),
    "audited in another topic": lambda history: history.change("audit", {"seq": ODD}, topic="elsewhere"),
    "not read": _without("reads", seq=ODD),
    "read twice": lambda history: history.read(ODD, 15),
    "read at another offset": lambda history: history.change("reads", {"seq": ODD}, offset=5_000),
    "read by a stranger": lambda history: history.change("reads", {"seq": ODD}, group="strangers"),
    "two that changed places": _exchanged,
}


@pytest.mark.parametrize("oddity", ODDITIES.values(), ids=ODDITIES)
def test_one_odd_record_is_suspected(
    asked: Callable[..., Events], oddity: Callable[[History], object], *, in_memory: bool
) -> None:
    """Alone or with its block, and nothing else; and what is not suspected is settled."""
    history = History(records=RECORDS)
    oddity(history)
    found = asked(history)
    mine = SECOND
    if in_memory:
        mine = {ODD} | (NEIGHBOUR if oddity is _exchanged else set())
    looked_at = set[int]()
    for table in ("reads", "audit"):
        rows = found.table(table)
        looked_at |= numbers(suspected(found, rows))
        assert numbers(settled(found, rows)) == set(range(RECORDS)) - mine
    assert looked_at - {ODD} == mine - {ODD}


def test_each_group_of_a_topic_has_to_have_read_it(asked: Callable[..., Events]) -> None:
    """A second group that was given the partition and nothing of one block leaves that one open, for both."""
    history = History(records=RECORDS)
    history.worker("other", kind="consume", group="others", isolation="read_committed", commit="sync")
    history.probes["other"] = {"consume": {"topic": "orders", "group": "others"}}
    history.add("assignments", at=-5.9, probe="other", group="others")
    for number in range(RECORDS):
        if number not in SECOND:
            history.read(number, 18, probe="other", group="others")
    found = asked(history)
    assert numbers(suspected(found, found.table("reads"))) == SECOND


def test_what_is_not_of_this_run_is_suspected(asked: Callable[..., Events]) -> None:
    """Records without a value are in nobody's block, and are always looked at."""
    history = History(records=RECORDS)
    nobody = {"producer": None, "producer_incarnation": None, "seq": None, "intact": False}
    history.audit(RECORDS, **nobody)
    found = asked(history)
    assert suspected(found, found.table("audit")).count() == 2


def test_an_aborted_record_that_was_shown_is_suspected(asked: Callable[..., Events], *, in_memory: bool) -> None:
    """Although all say the same of it: it was never to be shown."""
    history = transactional()
    history.change("transactions", {"txn": "t-0"}, outcome="aborted")
    found = asked(history)
    mine = numbers(found.table("sends").filter("txn = 't-0'")) if in_memory else numbers(found.table("reads"))
    assert mine
    assert numbers(suspected(found, found.table("reads"))) == mine


def crowds(found: Events) -> set[int]:
    """The offsets at which more than one value was seen."""
    return {int(row["offset"]) for row in crowded(found).collect()}


def test_a_place_that_a_suspected_value_shares_is_found(asked: Callable[..., Events]) -> None:
    """The acknowledgement names the place of a record that is settled."""
    history = History(records=RECORDS)
    history.change("sends", {"seq": ODD}, offset=150)
    assert crowds(asked(history)) == {150}


def test_a_place_that_settled_values_share_is_found(asked: Callable[..., Events]) -> None:
    """All say the same of each of two records, and that they stand at one offset."""
    history = History(records=RECORDS)
    for table in ("sends", "reads", "audit"):
        history.change(table, {"seq": ODD + 1}, offset=ODD)
    found = asked(history)
    assert suspected(found, found.table("audit")).count() == 0
    assert crowds(found) == {ODD}
