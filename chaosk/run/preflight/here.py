"""What the machine that chaosk runs on must have for a run to come to a verdict."""

from __future__ import annotations

from chaosk.hosts.java import problem
from chaosk.hosts.localhost import HERE
from chaosk.run.preflight.finding import Finding, bad, ok


def java() -> Finding:
    """Whether there is the Java that the analysis runs on: missed now, and not after the cluster was broken."""
    if (why := problem()) is None:
        return ok(HERE, "java", "there is one that Spark runs on")
    seen, _, todo = why.partition("; ")
    return bad(HERE, "java", seen, todo)
