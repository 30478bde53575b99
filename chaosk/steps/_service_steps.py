"""Stop, kill, start, restart and pause, shared by brokers, controllers and ZooKeeper nodes."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterator
from typing import ClassVar, Literal

from chaosk.core.units import Duration
from chaosk.hosts.commands import service, supervisor
from chaosk.hosts.lease import lease_id
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Deed, Fact, Pause, Run, Site, Step
from chaosk.spec.contracts.target import NodeKind
from chaosk.spec.harm import Harm
from chaosk.spec.inventory import ServerProcess
from chaosk.steps._server import SHUTDOWN, SOON, Role, Server, each, servers


class ServiceStep(Step, ABC):
    """A step on the targeted processes, all of them at once."""

    role: ClassVar[Role]

    target: str
    """The servers; a target that names several hits all of them."""

    def takes(self) -> frozenset[NodeKind]:
        """Accept nodes of the step's role; a broker may be a controller as well."""
        return frozenset({"broker", "controller"} if self.role == "controller" else {self.role})

    def targets(self) -> tuple[str, ...]:
        """Return the single target."""
        return (self.target,)

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that each process is the server of the inventory, before the run and when the step fires."""
        for server in self.servers(site):
            yield server.itself()

    def servers(self, site: Site) -> tuple[Server, ...]:
        """Return the targeted servers."""
        return servers(site, self.role, self.target)

    def holds(self, site: Site) -> Iterator[str]:
        """Yield the processes: another step must not freeze a process that this one stops."""
        for server in self.servers(site):
            yield f"the process of {server.name}"


class TakeDown(ServiceStep, ABC):
    """A step that ends the process, until it is started again."""

    lasting: ClassVar[bool] = True
    patience: ClassVar[float]
    """Time-out in seconds until the process is gone."""

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the process runs, and that the step suits it."""
        for server in self.servers(site):
            yield server.running()
        yield from self.suits(site)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify on the host that the process is gone without a successor, and that the cluster does not list it."""
        for server in self.servers(site):
            yield server.gone(self.patience)
        for server in self.servers(site):
            yield from server.away(SOON)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Start the servers that do not run."""
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the server runs and serves."""
        for server in self.servers(site):
            yield from server.back()


class Stop(TakeDown, ABC):
    """Stop the process cleanly."""

    patience: ClassVar[float] = SHUTDOWN

    def inject(self, site: Site) -> Iterator[Deed]:
        """Stop each server by its service."""
        yield from each(self.servers(site), service.stop)


class Kill(TakeDown, ABC):
    """Kill the process with SIGKILL."""

    patience: ClassVar[float] = SOON

    restart: Literal["held", "supervised"] = "held"
    """``held``: its supervisor may not restart it before the fault ends; ``supervised``: its supervisor may restart it,
    and has to within ``for``."""

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that the supervisor can be held without a change to anything else."""
        yield from super().suits(site)
        for who, name, query in self._held(site, supervisor.fits):
            yield Fact(says=f"{who} can be kept from starting {name} again", query=query)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Hold or record the supervisor, then send SIGKILL to each server."""
        for _, _, command in self._held(site, supervisor.hold):
            yield Run(command=command)
        for server in self.servers(site) if self.restart == "supervised" else ():
            if (noted := supervisor.note(server.process, self._lease(site))) is not None:
                yield Run(command=noted)
        yield from self.kill(site)

    def kill(self, site: Site) -> Iterator[Deed]:
        """Send SIGKILL to each server."""
        yield from each(self.servers(site), service.kill)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the server is gone and held; or that the process has ended, and at the end a successor runs."""
        if self.restart == "held":
            yield from super().verify(site)
            for who, name, query in self._held(site, supervisor.is_held):
                yield Fact(says=f"{who} does not start {name} again", query=query, within=SOON)
            return
        for server in self.servers(site):
            query = service.is_ended(server.process, self._lease(site))
            yield Fact(says=f"the process of {server.name} was ended", query=query, within=self.patience, steady=False)
        for server in self.servers(site):
            query = service.is_returned(server.process, self._lease(site))
            yield Fact(
                says=f"{server.name} was started again, not by chaosk", query=query, steady=False, last=True,
                remedy="have its supervisor start it again after a crash (Restart=on-failure, a higher "
                "StartLimitBurst), or give it longer by `for`",
            )  # fmt: skip

    def watch(self, site: Site) -> Iterator[Fact]:
        """Check that the server stays away, unless its supervisor may restart it."""
        if self.restart == "held":
            yield from super().watch(site)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Release the supervisor, and start the servers that do not run."""
        for _, _, command in self._held(site, supervisor.release):
            yield Run(command=command)
        yield from super().undo(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the supervisor is released, and that the server runs and serves."""
        for who, name, query in self._held(site, supervisor.is_released):
            yield Fact(says=f"{who} starts {name} again as it did before", query=query, within=SOON)
        yield from super().healed(site)

    def _held(self, site: Site, ask: Callable[[ServerProcess, str], Command]) -> Iterator[tuple[str, str, Command]]:
        """Yield supervisor, server and command for each server that is held; nothing if restarts are allowed."""
        for server in self.servers(site) if self.restart == "held" else ():
            yield supervisor.who(server.process), server.name, ask(server.process, self._lease(site))

    @staticmethod
    def _lease(site: Site) -> str:
        return lease_id(site.run_id, site.entry)


class Start(ServiceStep, ABC):
    """Start the server after a stop or a kill, which ends that fault."""

    lasting: ClassVar[bool] = False

    def harm(self, site: Site) -> Iterator[Harm]:  # noqa: ARG002 - the same everywhere
        """Yield nothing."""
        yield from ()

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the server does not run."""
        for server in self.servers(site):
            yield server.gone()

    def suits(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - what does not run is nobody yet
        """Require nothing."""
        yield from ()

    def inject(self, site: Site) -> Iterator[Deed]:
        """Start each server by its service."""
        yield from each(self.servers(site), service.start)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the server runs and serves."""
        for server in self.servers(site):
            yield from server.back()


class Restart(ServiceStep, ABC):
    """Stop and start the servers, one after the other; each has to serve before the next one is stopped."""

    lasting: ClassVar[bool] = False

    pause: Duration = 0.0
    """Pause between the return of a server and the stop of the next one."""

    def harm(self, site: Site) -> Iterator[Harm]:
        """Yield one server at a time."""
        for server in self.servers(site):
            yield Harm(away=(server.node,))

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that all servers run, and that each is the server of the inventory."""
        for server in self.servers(site):
            yield server.running()
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Stop, wait until it is gone, start, wait until it serves; then the next server."""
        for number, server in enumerate(self.servers(site)):
            if number and self.pause:
                yield Pause(seconds=self.pause)
            yield Run(command=service.stop(server.process))
            yield server.gone(SHUTDOWN)
            yield Run(command=service.start(server.process))
            yield from server.back()

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that all servers serve."""
        for server in self.servers(site):
            yield from server.back()

    def undo(self, site: Site) -> Iterator[Deed]:
        """Start the servers that do not run; needed only if the restart was interrupted."""
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that all servers serve."""
        yield from self.verify(site)


class Freeze(ServiceStep, ABC):
    """Freeze the process with SIGSTOP: it stays alive with open connections, but does not answer."""

    lasting: ClassVar[bool] = True

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the process runs, is not frozen, and is the server of the inventory."""
        for server in self.servers(site):
            yield server.awake()
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Send SIGSTOP to each process."""
        yield from each(self.servers(site), lambda process: service.signal(process, "STOP"))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the state of the process is T, stopped by a signal."""
        for server in self.servers(site):
            yield server.frozen(SOON)

    def watch(self, site: Site) -> Iterator[Fact]:
        """Check that the process stays frozen, and that the cluster does not list the server.

        The second is not verified again right before the undo: it takes a whole time-out of an answer, which would
        delay the undo.
        """
        yield from super().watch(site)
        for server in self.servers(site):
            yield from server.away()

    def undo(self, site: Site) -> Iterator[Deed]:
        """Send SIGCONT, and start the servers that have died meanwhile."""
        yield from each(self.servers(site), service.resume)
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the server runs and serves."""
        for server in self.servers(site):
            yield from server.back()
