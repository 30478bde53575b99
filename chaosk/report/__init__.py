"""A verdict becomes a report: HTML for people, Markdown for a pull request, JUnit for a CI server, a terminal summary.

::

    source       the run directory's documents        tables     its event tables, batch by batch
    axis         the seconds all plots share          traffic    rates, latency        changes, lanes   who led
    gaps, stalls, happenings, explain                 why nothing got through, and what happened meanwhile
    headline, measures, states, settings, evidence    what is said, in words and tables
    content      all of it, computed once
    figure, svg, panels, palette -> html      markdown      junit      terminal      files

Nothing here judges: whatever a report says of right or wrong is the verdict's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from chaosk.rundir.paths import RunDir
    from chaosk.rundir.verdict import Verdict


def write(run: RunDir) -> None:
    """Write ``report.html``, ``report.md`` and ``junit.xml`` into the run directory, from its verdict and events.

    Raises UsageError where there is no verdict, or the files cannot be written.
    """
    from chaosk.report.files import write_all  # noqa: PLC0415 - loading matplotlib takes a second that others save

    write_all(run)


def warm_up() -> None:
    """Load what :func:`write` needs, about a second's work: to be called in a thread while nothing else is to do."""
    import chaosk.report.files  # noqa: F401, PLC0415 - as above


def summary(verdict: Verdict, run: RunDir) -> RenderableType:
    """What to print on the terminal once a run is judged; it ends with the path of ``report.html``."""
    from chaosk.report.terminal import summary as rendered  # noqa: PLC0415 - as above

    return rendered(verdict, run)
