"""Reports of a verdict: HTML for people, Markdown for a pull request, JUnit for a CI server, a terminal summary.

::

    source       the run directory's documents        tables     its event tables, batch by batch
    axis         the common time axis of all plots    traffic    rates, latency     changes, lanes   leaders, replicas
    outages, stalls, happenings, explain                 causes of stalls, with the events around them
    headline, measures, states, settings, evidence    the report's statements, in words and tables
    content      all of it, computed once
    figure, svg, panels, palette -> html      markdown      junit      terminal      files

Nothing here judges: every judgement in a report is the verdict's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from chaosk.rundir.paths import RunDir
    from chaosk.rundir.verdict import Verdict


def write(run: RunDir) -> None:
    """Write ``report.html``, ``report.md`` and ``junit.xml`` into the run directory, from its verdict and events.

    Raises UsageError if there is no verdict, or if the files cannot be written.
    """
    from chaosk.report.files import write_all  # noqa: PLC0415 - loading matplotlib takes a second, saved here otherwise

    write_all(run)


def warm_up() -> None:
    """Load the modules of :func:`write` in advance, about a second's work: call it in a thread while idle."""
    import chaosk.report.files  # noqa: F401, PLC0415 - as above


def summary(verdict: Verdict, run: RunDir) -> RenderableType:
    """Return the terminal output for a judged run; it ends with the path of ``report.html``."""
    from chaosk.report.terminal import summary as rendered  # noqa: PLC0415 - as above

    return rendered(verdict, run)
