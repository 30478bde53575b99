"""What a run reaches: hosts, cluster and its own processes. Opened once, shared by all, closed at the end."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Callable
from types import TracebackType
from typing import Self

from chaosk.cluster import topics
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings, probe_settings
from chaosk.cluster.foreign import Foreign
from chaosk.cluster.group_state import GroupState, look
from chaosk.cluster.health import unhealthy
from chaosk.cluster.live_cluster import LiveCluster
from chaosk.cluster.wire import PATIENCE
from chaosk.core.errors import ChaoskError
from chaosk.hosts.localhost import kept
from chaosk.hosts.transport.local import RoutingTransport
from chaosk.hosts.transport.ssh import Ssh
from chaosk.planning.plan import Plan
from chaosk.run.clock_sampling import ClockSampling
from chaosk.run.display import Display
from chaosk.run.evidence import Evidence
from chaosk.run.executor import Executor
from chaosk.run.leases import Leases
from chaosk.run.lock_keeper import LockKeeper
from chaosk.run.naming import Naming
from chaosk.run.preflight.admittance import admit
from chaosk.run.processes import Processes
from chaosk.run.remakings import Remakings
from chaosk.run.stop_condition_inputs import HostWatch, ProbeHistory, RunStopConditionInputs
from chaosk.rundir.paths import RunDir
from chaosk.spec.contracts.step import Look
from chaosk.spec.contracts.stop_condition import StopCondition


class Environment:
    """Connections are made when they are first needed; use as a context manager."""

    def __init__(self, plan: Plan, lost: Callable[[str], None]) -> None:
        """``lost`` is called from another thread with the reason if the run must end: a halt, or a lost cluster."""
        inventory = plan.inventory
        self._plan = plan
        self._lost = lost
        self.gone: str | None = None
        """Reason why this run has lost the cluster; None while it has it."""
        self._transport = ClockSampling(RoutingTransport(Ssh(inventory.hosts), kept(inventory.name)))
        self._naming = Naming(inventory)
        self._brokers = Brokers(inventory, client_settings(inventory), find=self._naming.find)
        self._as_probes = Brokers(inventory, probe_settings(inventory), find=self._naming.find)
        self._holding = LockKeeper(self._transport, tuple(inventory.hosts), plan.run_id, _owner(), self._leave)
        self.foreign = Foreign(self._brokers, plan.scenario.topics)
        self._host_watch: HostWatch | None = None
        self._remakings = Remakings(self._brokers)
        self._processes = Processes(plan, self._naming)
        self.crew = self._processes.crew
        self.live = LiveCluster(
            inventory, self._brokers, self.crew.state, names=self._naming, as_probes=self._as_probes
        )
        self.evidence = Evidence(plan, self._brokers, self.live, self._transport)
        operate, signal, rename = self._remakings.operate, self.crew.signal, self._naming.change
        self.hands = Executor(inventory, self._transport, self.live, operate, signal, rename, self._look)

    def _leave(self, why: str) -> None:
        self.gone = self.gone or why
        self._lost(why)

    def __enter__(self) -> Self:
        """Open nothing before it is needed."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End every process and connection."""
        self._processes.close()
        if self._host_watch is not None:
            self._host_watch.close()
        self._naming.close()
        self._as_probes.close()
        self._brokers.close()
        self._holding.leave()
        self._transport.close()

    def preflight(self, display: Display) -> None:
        """Raise PreflightError if the run may not start; otherwise lock the cluster and create the topics."""
        inventory = self._plan.inventory
        self._processes.prepare()
        with Brokers(inventory, client_settings(inventory), PATIENCE) as patient:
            live = LiveCluster(inventory, patient, self.crew.state, PATIENCE)
            admit(self._plan, self._transport, patient, live, self._holding.take)
            if self._processes.own_names:
                self._naming.check()
            for line in topics.prepare(patient, self._plan.scenario.topics):
                display.say(line)
        self.foreign.partitions()

    def leases(self) -> Leases:
        """Return the leases of this run, none armed yet."""
        return Leases(self._transport, self._plan.run_id, _owner(), self._plan.inventory.longest_lease)

    def excuse(self, down: Callable[[], frozenset[str]]) -> None:
        """From now on, do not require the cluster's lock on hosts that a fault has taken down."""
        self._holding.excuse(down)

    def tell_remakings(self, tell: Callable[[str, int, int], None]) -> None:
        """From now on, report each recreated topic with the times of its deletion and creation."""
        self._remakings.tell = tell

    def unhealthy(self) -> tuple[str, ...]:
        """Return the problems of the cluster and the scenario's topics, in sentences; empty if there are none."""
        try:
            return unhealthy(self.live, self._plan.inventory, self._plan.scenario.topics)
        except ChaoskError as error:
            return (str(error),)

    def open(self, rundir: RunDir) -> None:
        """Start the watcher; probes and audit write into this run directory from now on."""
        self._processes.open(rundir, others=any(one.watches_all for one in self.stop_conditions))

    def stop_watcher(self) -> tuple[str, ...]:
        """End the watcher, if it runs; return its failure, in words."""
        return self._processes.stop_watcher()

    @property
    def stop_conditions(self) -> tuple[StopCondition, ...]:
        """The inventory's stop conditions, then the scenario's."""
        return (*self._plan.inventory.stop_conditions, *self._plan.scenario.stop_conditions)

    def sight(self, held: Callable[[], frozenset[str]]) -> RunStopConditionInputs:
        """Return the input of stop conditions; ``held``: the hosts that a fault affects as a whole."""
        hosts, watched = self._plan.inventory.hosts, self._processes.watched
        self._host_watch = HostWatch(Ssh(hosts), hosts, held)
        return RunStopConditionInputs(watched, self.foreign, ProbeHistory(self.crew.states), self._host_watch)

    def watched(self) -> tuple[str, ...]:
        """Return the watcher's last sample of the cluster, as lines for people."""
        state = self._processes.watched()
        return state.lines() if state is not None else ()

    @property
    def groups(self) -> tuple[str, ...]:
        """The consumer groups of the scenario's probes, sorted."""
        return self._plan.scenario.groups

    def group(self, name: str) -> GroupState:
        """Return the state of a consumer group, without joining it; unknown parts are reported in it."""
        return look(self._brokers, name)

    @property
    def writers(self) -> tuple[str, ...]:
        """Started writers of event streams, by the names of their folders."""
        return (*self._processes.writers, *self.evidence.writers)

    def _look(self, deed: Look) -> None:
        if self._processes.rundir is not None:
            self.evidence.observe(self._processes.rundir.observed(deed.entry))


def login_name() -> str:
    """Return the name of the logged-in user, or the user id if there is none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such user, as in a container
        return str(os.getuid())


def _owner() -> str:
    """Return the user and host of this run, for the mark on hosts."""
    return f"{login_name()}@{socket.gethostname()}"
