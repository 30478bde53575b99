"""The picture: it fits, whatever is in it, and what matters most is always there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chaosk.cluster.group_state import GroupState
from chaosk.run.active_faults import ActiveFault
from chaosk.run.approval import Question
from chaosk.run.clock import now
from chaosk.run.display import Status
from chaosk.run.gameday.groups import Watched
from chaosk.run.gameday.operator import Open
from chaosk.run.gameday.screen import painted, screen
from chaosk.run.gameday.view import ConsoleView
from chaosk.run.timeline import Outlook
from chaosk.spec.contracts.live import ProbeState


def view(many: int = 1, *, asked: bool = False, **fields: object) -> ConsoleView:
    """A view in which there is so much of everything."""
    text = "x" * 100
    status = Status(
        phase="timeline", elapsed=12.3, stands=asked,
        probes=tuple(
            ProbeState(
                probe=f"writer-{n}", kind="produce", running=n == 0, fail=1234, info=5, last_error="_TRANSPORT"
            )
            for n in range(many)
        ),
        rates={"writer-0": 498.2}, cluster=tuple(f"orders-{n}: leaders 0 1 2, ISR 3/3" for n in range(many)),
        outlook=tuple(Outlook(f"kill-{n}", "kill_broker", "waits", 12.0) for n in range(many)),
        faults=tuple(
            ActiveFault(f"cut-{n}", "cut_network", "broker 1 on node2", "in place", 3.0, 41.0) for n in range(many)
        ),
    )  # fmt: skip
    question = Question(
        "kill-0", "kill_broker", "Kill it", ("broker 0",), (text,) * many, (text,) * many, "30s", "1m on node1"
    )
    opened = Open(question, now(), 300.0) if asked else None
    groups = tuple(Watched(GroupState(f"billing-{n}", "Stable", 3, "g", 100, 6, 4711)) for n in range(many))
    told: dict[str, object] = {"latencies": {"writer-0": 0.012}, "groups": groups, "said": ("note",) * many}
    return ConsoleView("a", "anna", status, opened, **told, **fields)  # type: ignore[arg-type]


def text(shown: ConsoleView, width: int = 80, height: int = 24) -> str:
    """The rows."""
    return "\n".join(row.plain for row in screen(shown, width, height))


@pytest.mark.parametrize("many", [0, 1, 3, 40])
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_it_fits(many: int, size: tuple[int, int], *, asked: bool) -> None:
    """Exactly so many rows, none wider than the terminal, the keys in the last one."""
    rows = screen(view(many, asked=asked), *size)
    assert len(rows) == size[1]
    assert max(row.cell_len for row in rows) <= size[0]
    assert "h heal" in rows[-1].plain


@example(0, 1, "", False)  # noqa: FBT003 - hypothesis
@given(st.integers(0, 90), st.integers(0, 30), st.text(max_size=300), st.booleans())
def test_any_size_and_any_text_fit(width: int, height: int, said: str, asked: bool) -> None:  # noqa: FBT001 - hypothesis
    """A window that is dragged, and a host that says anything: no row breaks the next one."""
    shown = replace(view(2, asked=asked, typed=said), said=(said,), operator=said)
    loud = tuple(probe.model_copy(update={"last_error": said}) for probe in shown.status.probes)
    rows = screen(replace(shown, status=replace(shown.status, probes=loud, cluster=(said,))), width, height)
    assert len(rows) == height
    assert all(row.plain.isprintable() and row.cell_len <= width for row in rows)
    assert all("\n" not in row for row in painted(rows, max(1, width)))


def test_it_shows_what_an_operator_has_to_know() -> None:
    """Timeline, fault and lease, rates, latency, errors, leaders, groups, what was said."""
    shown = text(view())
    for part in (
        "waits, due in 12 s", "cut-0  in place 3 s  lease 41 s  broker 1 on node2", "498/s p99  12 ms", "fail 1,234",
        "_TRANSPORT", "orders-0: leaders 0 1 2", "billing-0", "lag 4,711", "3 members", "note", "anna",
    ):  # fmt: skip
        assert part in shown, part


def test_of_much_the_first_and_how_much_more() -> None:
    """No part pushes another one off the screen."""
    shown = text(view(40))
    for part in ("kill-0", "cut-0", "writer-0", "orders-0", "billing-0", "more rows"):
        assert part in shown, part


def test_a_long_question_can_be_scrolled() -> None:
    """What is above is gone, what is below can be seen."""
    shown = text(view(40, asked=True, scrolled=60))
    assert "answer within" not in shown
    assert "xxx" in shown


def test_a_question_takes_the_timelines_place() -> None:
    """With what counts of the rest."""
    shown = text(view(2, asked=True))
    for part in ("answer within 5:00", "on broker 0", "does", "undo", "cut-0", "writer-0", "orders-0", "paused"):
        assert part in shown, part


@pytest.mark.parametrize(
    ("mode", "shows"), [("note", "note> abc"), ("confirm", "heal everything and end the run?"), ("keys", "n note")]
)
def test_the_foot_says_what_keys_do_now(mode: str, shows: str) -> None:
    """Letters of a note are no commands, and it says how to heal all the same."""
    assert shows in text(view(mode=mode, typed="abc"))


def test_a_terminal_that_is_too_small_says_so() -> None:
    """And that h still heals."""
    shown = text(view(), 40, 10)
    assert "too small: 40x10, make it 80x24" in shown
    assert "h heals now" in shown
