"""Whether all hosts lost their power that had a topic's records: then what was on no disk yet may rightly be gone.

Brokers acknowledge what is in their page caches, not what is on their disks. So ``acks=all`` is no help where as many
replicas lost their power (or their kernel) at once as ``min.insync.replicas`` says, and other faults kept all other
replicas away. An ISR that shrank for any other reason excuses nothing, nor do hosts that have no replica.
"""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.case import Case
from chaosk.cluster.shape import placement
from chaosk.verdict import Fault

_AWAY = {
    "stop_broker", "kill_broker", "pause_broker", "cut_network", "fill_disk", "change_owner", "remount_read_only",
}  # fmt: skip
"""Kinds of step that keep a broker out of the ISR, besides those that take its host down."""


def dark(case: Case, topic: str) -> bool:
    """Whether that befell every partition of a topic at once."""
    shape = case.topics.get(topic)
    if shape is None or not case.hosts:
        return False
    replicas = placement(shape, sorted(case.hosts)).values()
    places = [[case.hosts[broker] for broker in brokers] for brokers in replicas]
    for cut in (fault for fault in case.faults if _forgets(case, fault)):
        standing = [f for f in case.faults if f.invoked <= cut.invoked <= (f.healed or case.record.ended)]
        lost = _hosts(fault for fault in standing if _forgets(case, fault))
        away = lost | _hosts(fault for fault in standing if fault.step in _AWAY)
        if all(away.issuperset(at) and sum(host in lost for host in at) >= case.min_isr(topic) for at in places):
            return True
    return False


def _forgets(case: Case, fault: Fault) -> bool:
    """Whether a fault takes from hosts what they had not brought to their disks."""
    hard = (entry.step.get("how") == "hard" for entry in case.plan.timeline if entry.name == fault.name)
    return fault.step in {"power_off", "crash_kernel", "fail_disk"} or (fault.step == "reboot" and any(hard))


def _hosts(faults: Iterable[Fault]) -> set[str]:
    """The hosts that targets are, or run on: ``host node1``, ``broker 0 on node1``."""
    return {words.rpartition(" ")[2] for fault in faults for words in fault.targets.split(", ")}
