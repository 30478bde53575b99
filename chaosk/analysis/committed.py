"""Guards about what groups had committed in the end: nobody was asked, or somebody else committed for them."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.analysis.case import Case
from chaosk.rundir.verdict import Guard


def group_not_asked(case: Case) -> Iterator[Guard]:
    """After the run the cluster did not say what a group had committed for a partition.

    Asked of runs whose writers say how much they wrote: in those of older versions rows may be missing for nothing.
    """
    if case.record.streams is None:
        return
    told = {(one.group, one.topic, one.partition) for one in case.committed}
    for group in case.groups:
        places = sorted({(row["topic"], row["partition"]) for row in case.ranges})
        if missing := [f"{topic}-{number}" for topic, number in places if (group, topic, number) not in told]:
            what = f"nobody could tell after the run what {group} had committed for {', '.join(missing)}"
            yield Guard(guard="group_not_asked", what=f"{what}; whether commits were lost cannot be judged")


def foreign_commit(case: Case) -> Iterator[Guard]:
    """The cluster says that a group committed more than any process of the run asked it to: somebody else did.

    Of groups that commit by themselves, and of which every process wrote down all that it did: automatic commits, and
    those of a process that was killed, may not have been written.
    """
    own = {worker.group for worker in case.workers if worker.commit == "automatic"}
    own |= {worker.group for worker in case.workers if (worker.probe, worker.incarnation) in case.unended}
    for one in case.committed:
        if one.group in own or one.topic in case.former.topics or one.offset is None or one.asked is None:
            continue
        if one.offset > one.asked:
            what = (
                f"the cluster says that {one.group} committed {one.offset:,} in {one.topic}-{one.partition}, and no "
                f"process of the run asked for more than {one.asked:,}: somebody else commits for that group"
            )
            yield Guard(guard="foreign_commit", what=what)
