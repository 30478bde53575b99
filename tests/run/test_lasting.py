"""Holes in a fault, from looks at it: literal looks, in seconds."""

from __future__ import annotations

import pytest

from chaosk.run.lasting import LONG, FactCheck, lasted

SECOND = 1_000_000_000
KILLED = "broker 2 is gone"
CUT = "the cut is in place on node1"


def look(at: float, *, holds: bool | None = True, seen: str = "", says: str = KILLED, host: bool = True) -> FactCheck:
    """A look that took a tenth of a second, and ended at ``at``."""
    return FactCheck(
        says, int((at - 0.1) * SECOND), int(at * SECOND), holds, seen, by_host=host, remedy="mask the unit"
    )


def why(*looks: FactCheck) -> tuple[str, ...]:
    """Why a fault that was in place since 0 s did not last, with the last look as its end."""
    return lasted(looks, 0, max(each.latest for each in looks))[0]


def test_seen_at_every_look_it_lasted() -> None:
    """Also with marks and counters that are what they were, or have grown."""
    seen = ("mark table 7\ncount rules 1 0", "mark table 7\ncount rules 9 0", "there\nmark table 7\ncount rules 9 1")
    assert lasted([look(5.0 * n, seen=text) for n, text in enumerate(seen, 1)], 0, 15 * SECOND) == ((), ())


def test_a_hole_is_as_long_as_looks_tell() -> None:
    """From the last look that found it to the first that found it again, and for sure between those that did not."""
    (said,) = why(
        look(0.1),
        look(5.0),
        look(10.0, holds=False, seen="process 7"),
        look(15.0, holds=False, seen="process 7"),
        look(20.0),
    )
    assert said == (
        "did not last: not seen: broker 2 is gone (process 7), for 4.9 s to 15.1 s: last seen in place 4.9 s after it "
        "took, first seen missing 10.0 s after it took, seen back 20.0 s after it took; mask the unit"
    )


def test_what_is_missing_at_the_end_is_so_since_it_was_first() -> None:
    """Its supervisor started it again after a while, and it stayed: the end of the fault does not tell when."""
    (said,) = why(
        look(0.1), look(5.0), look(10.0, holds=False, seen="process 7"), look(15.0, holds=False, seen="process 7")
    )
    assert said.startswith("did not last: before undoing it, not seen: broker 2 is gone (process 7), for 5.0 s to 10.1")
    assert "seen back" not in said


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("mark table 7", "mark table 8"),
        ("count rules 4 4", "count rules 5 3"),
        ("count rules 4 4", "count rules 4"),
    ],
    ids=["another table", "a counter that went back", "a rule fewer"],
)
def test_what_is_there_at_two_looks_but_is_another_one_was_away(before: str, after: str) -> None:
    """Deleted and put back between two looks: for as long as between them at the most."""
    (said,) = why(look(0.1, seen=before), look(5.0, seen=f"in force\n{before}"), look(10.0, seen=f"in force\n{after}"))
    assert said.startswith(
        "did not last: it ended and came back between two looks: broker 2 is gone (in force), but another one, for up "
        "to 5.1 s"
    )


def test_of_several_holes_one_that_was_seen_is_told() -> None:
    """It has the process that was there, and who started it; marks alone say only that something was."""
    (said,) = why(
        look(0.1, seen="mark pid 7"),
        look(5.0, seen="mark pid 8"),
        look(10.0, holds=False, seen="process 9, started 2 s ago by process 1"),
        look(15.0, seen="mark pid 8"),
    )
    assert said.startswith("did not last: not seen: broker 2 is gone (process 9, started 2 s ago by process 1)")
    assert said.endswith("; and 1 more times")


def test_a_mark_that_is_not_told_is_no_other() -> None:
    """A pid file that a stop script takes away later: nothing was started."""
    assert why(look(0.1, seen="mark start 7"), look(5.0), look(10.0, seen="mark start 7")) == ()
    assert why(look(0.1, seen="mark start 7"), look(5.0), look(10.0, seen="mark start 8")) != ()


def test_who_could_not_be_asked_has_seen_nothing() -> None:
    """A busy host, or a cluster of which nobody answers: neither a hole nor a proof of one's end."""
    assert lasted([look(0.1), look(5.0, holds=None), look(10.0, holds=None), look(15.0)], 0, 15 * SECOND) == ((), ())
    (said,) = why(look(0.1), look(5.0, holds=False), look(10.0, holds=None), look(15.0))
    assert "for 0.0 s to 15.0 s" in said


def test_a_long_time_without_a_look_on_the_host_is_no_proof() -> None:
    """Its host looks by itself and needs nobody for it; if it could not for so long, nobody knows."""
    (said,) = why(look(0.1), look(5.0, holds=None), look(LONG + 5.0))
    assert said == f"not known to have lasted: not checked for {LONG + 4.8:.1f} s: broker 2 is gone"


def test_marks_on_both_sides_prove_what_nobody_saw() -> None:
    """The same table before and after was there all the time, however long nobody looked: told, and no reason."""
    looks = [look(0.1, seen="mark table 7"), look(LONG + 5.0, seen="mark table 7")]
    assert lasted(looks, 0, looks[-1].latest)[0] == ()
    assert "not checked for" in lasted(looks, 0, looks[-1].latest)[1][0]
    assert "but another one" in why(looks[0], look(LONG + 5.0, seen="mark table 8"))[0]


def test_a_cluster_that_does_not_answer_for_long_is_told_only() -> None:
    """That may be what the fault is for; what is asked of it is asked beside what its host sees."""
    looks = [look(0.1, host=False), look(LONG + 5.0, host=False)]
    assert lasted(looks, 0, looks[-1].latest) == ((), (f"not checked for {LONG + 4.8:.1f} s: {KILLED}",))


def test_what_comes_later_counts_from_when_it_came() -> None:
    """The cluster loses a broker only seconds after it was killed; what it says then must stay so."""
    away = "broker 2 does not serve"
    assert why(look(1.0, holds=False, says=away), look(6.0, says=away), look(11.0, says=away)) == ()
    assert len(why(look(1.0, holds=False, says=away), look(6.0, says=away), look(11.0, holds=False, says=away))) == 1


def test_facts_are_judged_one_by_one_and_after_the_end_none() -> None:
    """What is seen once it is being undone is no hole; a second hole of one fact is counted."""
    looks = [look(0.1), look(0.1, says=CUT), look(5.0, holds=False, says=CUT), look(10.0, says=CUT), look(10.0)]
    (said,) = lasted([*looks, look(12.0, holds=False)], 0, looks[-1].latest)[0]
    assert CUT in said
    more = [look(15.0, holds=False, says=CUT), look(20.0, says=CUT)]
    assert lasted([*looks, *more], 0, 20 * SECOND)[0][0].endswith("; and 1 more times")
