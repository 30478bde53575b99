"""Which partitions' hosts all lost what they had not brought to their disks: that may rightly be gone.

Brokers acknowledge what is in their page caches, not what is on their disks. So ``acks=all`` is no help where as many
replicas of a partition lost their power (or their kernel, or their disk) at once as ``min.insync.replicas`` said, and
other faults kept all its other replicas away. An ISR that shrank for any other reason excuses nothing, nor do hosts
that have no replica.
"""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.case import Case, Span
from chaosk.analysis.settingsseen import min_isr
from chaosk.rundir.verdict import Fault

FORGETTING = frozenset({"power_off", "crash_kernel", "fail_disk", "reboot", "wipe_disk"})
"""Kinds of step that take from hosts what they had not brought to their disks; of ``reboot`` only the hard one,
``wipe_disk`` what they had brought there, too."""
_AWAY = {
    "stop_broker", "kill_broker", "pause_broker", "cut_network", "fill_disk", "change_owner", "remount_read_only",
}  # fmt: skip
"""Kinds of step that keep a broker out of the ISR, besides those."""


def dark(case: Case, topic: str) -> frozenset[int]:
    """The partitions of a topic which that befell; none whose replicas nobody saw."""
    return frozenset(cut_power(case, topic))


def cut_power(case: Case, topic: str) -> dict[int, tuple[tuple[int, int], ...]]:
    """The same, with the times of each loss: from when the fault was invoked until it was over."""
    found: dict[int, list[tuple[int, int]]] = {}
    for (name, partition), brokers in case.replicas.items():
        if name != topic or not brokers <= case.hosts.keys():
            continue
        at = [case.hosts[broker] for broker in brokers]
        for cut, lost, away in _cuts(case):
            least = min_isr(case, topic, Span("until then", 0, cut.invoked))
            if away.issuperset(at) and sum(host in lost for host in at) >= least:
                found.setdefault(partition, []).append((cut.invoked, cut.healed or case.record.ended))
    return {partition: tuple(spans) for partition, spans in found.items()}


def _cuts(case: Case) -> Iterable[tuple[Fault, set[str], set[str]]]:
    """Each such fault, the hosts that had lost it by then, and with them those that were kept away."""
    for cut in (fault for fault in case.faults if _forgets(case, fault)):
        standing = [one for one in case.faults if one.invoked <= cut.invoked <= (one.healed or case.record.ended)]
        lost = _hosts(fault for fault in standing if _forgets(case, fault))
        yield cut, lost, lost | _hosts(fault for fault in standing if fault.step in _AWAY)


def _forgets(case: Case, fault: Fault) -> bool:
    hard = any(entry.step.get("how") == "hard" for entry in case.plan.timeline if entry.name == fault.name)
    return fault.step in FORGETTING and (fault.step != "reboot" or hard)


def _hosts(faults: Iterable[Fault]) -> set[str]:
    """The hosts that targets are, or run on: ``host node1``, ``broker 0 on node1``."""
    return {words.rpartition(" ")[2] for fault in faults for words in fault.targets.split(", ")}
