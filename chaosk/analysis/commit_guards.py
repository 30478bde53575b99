"""Guards about the final committed offsets of groups: no answer of the cluster, or commits by another client."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.analysis.case import Case
from chaosk.rundir.verdict import Guard


def group_not_asked(case: Case) -> Iterator[Guard]:
    """Yield a guard if the cluster did not report a group's committed offset of a partition after the run.

    Only for runs whose writers record how much they wrote: in runs of older versions rows may be missing without a
    cause.
    """
    if case.record.streams is None:
        return
    told = {(one.group, one.topic, one.partition) for one in case.committed}
    for group in case.groups:
        places = sorted({(row["topic"], row["partition"]) for row in case.ranges})
        if missing := [f"{topic}-{number}" for topic, number in places if (group, topic, number) not in told]:
            what = f"the cluster did not report after the run what {group} had committed for {', '.join(missing)}"
            yield Guard(guard="group_not_asked", what=f"{what}; whether commits were lost cannot be judged")


def foreign_commit(case: Case) -> Iterator[Guard]:
    """Yield a guard if the cluster's committed offset of a group exceeds all that this run's processes asked for.

    Only for groups without automatic commits and without a killed process: the commits of these may not be recorded.
    """
    own = {worker.group for worker in case.workers if worker.commit == "automatic"}
    own |= {worker.group for worker in case.workers if (worker.probe, worker.incarnation) in case.unended}
    for one in case.committed:
        if one.group in own or one.topic in case.former.topics or one.offset is None or one.asked is None:
            continue
        if one.offset > one.asked:
            what = (
                f"the cluster says that {one.group} committed {one.offset:,} in {one.topic}-{one.partition}, and no "
                f"process of the run asked for more than {one.asked:,}: another client commits for that group"
            )
            yield Guard(guard="foreign_commit", what=what)
