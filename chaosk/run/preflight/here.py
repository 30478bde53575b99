"""Requirements of the machine that chaosk runs on."""

from __future__ import annotations

from chaosk.hosts.java import problem
from chaosk.hosts.localhost import HERE
from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok


def java() -> Diagnostic:
    """Report the Java installation of the analysis, before any fault rather than after the run."""
    if (why := problem()) is None:
        return ok(HERE, "java", "there is one that Spark runs on")
    seen, _, todo = why.partition("; ")
    return bad(HERE, "java", seen, todo)
