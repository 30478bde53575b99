"""What a person sees meanwhile: lines that stay, the picture, rates."""

from __future__ import annotations

import io

from rich.console import Console

from chaosk.run.active_faults import ActiveFault
from chaosk.run.display import SHOWN_FOR, PlainDisplay, Rates, RecentErrors, Status, TerminalDisplay, picture
from chaosk.spec.contracts.live import ProbeState


def state(**fields: object) -> ProbeState:
    """A probe's state."""
    return ProbeState.model_validate({"probe": "writer", "kind": "produce", "running": True, **fields})


def console(*, terminal: bool = False) -> tuple[Console, io.StringIO]:
    """A console of 100 columns and what it wrote."""
    file = io.StringIO()
    return Console(file=file, width=100, force_terminal=terminal, color_system=None, legacy_windows=False), file


def rendered(status: Status) -> str:
    """The picture as plain text."""
    out, file = console()
    out.print(picture(status))
    return file.getvalue()


def test_the_picture_says_what_goes_on_and_what_comes_next() -> None:
    """Phase, seconds, the fault in place, the next entry, the cluster's own lines."""
    text = rendered(
        Status("timeline", 12.34, "kill-1", "elect-2", cluster=("controller 2, brokers 1 2", "orders: ISR 2/3"))
    )
    for part in ("timeline +12.3s", "kill-1", "next: elect-2", "controller 2, brokers 1 2", "orders: ISR 2/3"):
        assert part in text


def test_the_picture_has_a_line_for_each_probe() -> None:
    """Rate, outcomes, lag and the last error of each."""
    probes = (state(ok=12345, fail=2, info=3, last_error="_TRANSPORT"), state(probe="reader", lag=7))
    text = rendered(Status("timeline", 1.0, probes=probes, rates={"writer": 499.7}))
    writer = next(line for line in text.splitlines() if line.startswith("writer"))
    assert [word for word in writer.split() if word] == ["writer", "500", "12,345", "2", "3", "_TRANSPORT"]
    assert any(
        line.startswith("reader") and line.split() == ["reader", "0", "0", "0", "7"] for line in text.splitlines()
    )


def test_an_error_with_markup_is_shown_as_it_is() -> None:
    """What a broker says is text, never a style."""
    assert "[red]x[/red]" in rendered(Status("timeline", 1.0, probes=(state(last_error="[red]x[/red]"),)))


def test_plain_lines_are_never_wrapped_and_never_markup() -> None:
    """A log line stays one line, however long, with brackets as they came."""
    out, file = console()
    PlainDisplay(out).say("x" * 300 + " [bold]")
    (line,) = file.getvalue().splitlines()
    assert line.endswith("[bold]")


def test_plain_status_comes_every_few_seconds_only() -> None:
    """A log is not flooded: two looks in a row make one line."""
    out, file = console()
    display = PlainDisplay(out)
    display._last = -1e9
    display.show(Status("baseline", 0.0, probes=(state(ok=5, fail=1, info=2, lag=3, last_error="X", running=False),)))
    display.show(Status("baseline", 0.1))
    (line,) = file.getvalue().splitlines()
    assert "baseline: no fault in place | writer - ok 5 fail 1 maybe 2 lag 3 X NOT RUNNING" in line


def test_a_fault_that_lasts_beyond_its_entry_is_shown() -> None:
    """One without `for` is in place until the run heals it, though its entry is done; one with it is named once."""
    out, file = console()
    faults = tuple(
        ActiveFault(name, "cut_network", "host node1", "in place", 3.0, None) for name in ("kill-1", "cut-2")
    )
    status = Status("timeline", 1.0, "kill-1, wait-3", faults=faults)
    PlainDisplay(out).show(status)
    assert "timeline: kill-1, wait-3, cut-2 | " in file.getvalue()
    assert "kill-1, wait-3, cut-2" in rendered(status)


def test_the_terminal_keeps_lines_and_takes_the_picture_away() -> None:
    """After the run only what was said is left on the screen."""
    out, file = console(terminal=True)
    with TerminalDisplay(out) as display:
        display.show(Status("settle", 3.0))
        display.say("kill-1: verified")
    assert "kill-1: verified" in file.getvalue()


def test_a_rate_is_counted_between_two_looks() -> None:
    """100 records in half a second are 200 a second; a look too soon keeps the old rate."""
    rates = Rates()
    assert rates.of((state(ok=0),), at=10.0) == {}
    assert rates.of((state(ok=100),), at=10.5) == {"writer": 200.0}
    assert rates.of((state(ok=900),), at=10.6) == {"writer": 200.0}


def test_a_probe_that_starts_again_counts_from_zero() -> None:
    """A new incarnation's counter is smaller: no negative rate."""
    rates = Rates()
    rates.of((state(ok=1000),), at=1.0)
    rates.of((state(ok=10),), at=2.0)
    assert rates.of((state(ok=20),), at=3.0) == {"writer": 10.0}


def test_an_error_is_shown_while_it_happens() -> None:
    """And some seconds longer, so that each is on a line once; not for the rest of the run."""
    errors = RecentErrors()
    (first,) = errors.of((state(errors=1, last_error="_TRANSPORT"),), at=10.0)
    (again,) = errors.of((state(errors=2, last_error="_TRANSPORT"),), at=16.0)
    (still,) = errors.of((state(errors=2, last_error="_TRANSPORT"),), at=16.0 + SHOWN_FOR - 0.1)
    (over,) = errors.of((state(errors=2, last_error="_TRANSPORT"),), at=16.0 + SHOWN_FOR)
    assert [one.last_error for one in (first, again, still, over)] == ["_TRANSPORT"] * 3 + [None]


def test_an_error_that_comes_again_is_shown_again() -> None:
    """The same one as before, as another record fails."""
    errors = RecentErrors()
    errors.of((state(fail=1, last_error="X"),), at=0.0)
    errors.of((state(fail=1, last_error="X"),), at=60.0)
    assert errors.of((state(fail=2, last_error="X"),), at=61.0)[0].last_error == "X"


def test_a_probe_that_did_its_work_has_ended() -> None:
    """It is no alarm at the end of a good run; one that was killed is, and one that is yet to start is neither."""

    def told(**fields: object) -> str:
        out, file = console()
        display = PlainDisplay(out)
        display._last = -100.0
        display.show(Status("drain", 3.0, probes=(state(**fields),)))
        return file.getvalue().strip()

    assert told(running=False, exit_status=0).endswith("ok 0 ended")
    assert told(running=False, exit_status=-9).endswith("NOT RUNNING")
    assert told(running=False, begun=False).endswith("not started")
