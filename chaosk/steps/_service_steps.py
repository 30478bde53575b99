"""Stopping, killing, starting, restarting and pausing, the same for brokers and ZooKeeper nodes."""

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
    """A step on the processes that a target names, all of them at once."""

    role: ClassVar[Role]

    target: str
    """Which ones; a target that names several hits all of them."""

    def takes(self) -> frozenset[NodeKind]:
        """Processes of its role; a broker may be a controller as well."""
        return frozenset({"broker", "controller"} if self.role == "controller" else {self.role})

    def targets(self) -> tuple[str, ...]:
        """The one target."""
        return (self.target,)

    def suits(self, site: Site) -> Iterator[Fact]:
        """Each process is the one that is meant: asked before the run, and again when the step fires."""
        for server in self.servers(site):
            yield server.itself()

    def servers(self, site: Site) -> tuple[Server, ...]:
        """The processes the target named."""
        return servers(site, self.role, self.target)

    def holds(self, site: Site) -> Iterator[str]:
        """The processes: what one step stops, no other may freeze meanwhile."""
        for server in self.servers(site):
            yield f"the process of {server.name}"


class TakeDown(ServiceStep, ABC):
    """The process goes away, until it is started again."""

    lasting: ClassVar[bool] = True
    patience: ClassVar[float]
    """Seconds until it is gone."""

    def before(self, site: Site) -> Iterator[Fact]:
        """It runs: what is dead cannot be taken down; and it can be done to the one that is meant."""
        for server in self.servers(site):
            yield server.running()
        yield from self.suits(site)

    def verify(self, site: Site) -> Iterator[Fact]:
        """It is gone from its host, no supervisor has started another, and nobody serves as it: seen from two sides."""
        for server in self.servers(site):
            yield server.gone(self.patience)
        for server in self.servers(site):
            yield from server.away(SOON)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Start what does not run."""
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """It runs and serves."""
        for server in self.servers(site):
            yield from server.back()


class Stop(TakeDown, ABC):
    """Asked to stop, the clean way."""

    patience: ClassVar[float] = SHUTDOWN

    def inject(self, site: Site) -> Iterator[Deed]:
        """Stop each by its service."""
        yield from each(self.servers(site), service.stop)


class Kill(TakeDown, ABC):
    """Killed with SIGKILL."""

    patience: ClassVar[float] = SOON

    restart: Literal["held", "supervised"] = "held"
    """What its supervisor may do: ``held``: it is kept from starting it again until the fault is over; ``supervised``:
    it starts it again, and has to within ``for``."""

    def suits(self, site: Site) -> Iterator[Fact]:
        """Its supervisor can be kept from starting it again, and nothing else changes by that."""
        yield from super().suits(site)
        for who, name, query in self._held(site, supervisor.fits):
            yield Fact(says=f"{who} can be kept from starting {name} again", query=query)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Hold its supervisor, or write down who that is; then SIGKILL to each."""
        for _, _, command in self._held(site, supervisor.hold):
            yield Run(command=command)
        for server in self.servers(site) if self.restart == "supervised" else ():
            if (noted := supervisor.note(server.process, self._lease(site))) is not None:
                yield Run(command=noted)
        yield from self.kill(site)

    def kill(self, site: Site) -> Iterator[Deed]:
        """SIGKILL to each."""
        yield from each(self.servers(site), service.kill)

    def verify(self, site: Site) -> Iterator[Fact]:
        """It is gone and held down; or the process that was there is gone, and at the end another one runs."""
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
        """It stays away, unless its supervisor may bring it back."""
        if self.restart == "held":
            yield from super().watch(site)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Let its supervisor go on, and start what does not run."""
        for _, _, command in self._held(site, supervisor.release):
            yield Run(command=command)
        yield from super().undo(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Its supervisor is as it was; it runs and serves."""
        for who, name, query in self._held(site, supervisor.is_released):
            yield Fact(says=f"{who} starts {name} again as it did before", query=query, within=SOON)
        yield from super().healed(site)

    def _held(self, site: Site, ask: Callable[[ServerProcess, str], Command]) -> Iterator[tuple[str, str, Command]]:
        """Who is kept from starting which server again, and the command for that; nobody where that is asked for."""
        for server in self.servers(site) if self.restart == "held" else ():
            yield supervisor.who(server.process), server.name, ask(server.process, self._lease(site))

    @staticmethod
    def _lease(site: Site) -> str:
        return lease_id(site.run_id, site.entry)


class Start(ServiceStep, ABC):
    """Started, after a stop or a kill; that fault is then over."""

    lasting: ClassVar[bool] = False

    def harm(self, site: Site) -> Iterator[Harm]:  # noqa: ARG002 - the same everywhere
        """None."""
        yield from ()

    def before(self, site: Site) -> Iterator[Fact]:
        """It does not run."""
        for server in self.servers(site):
            yield server.gone()

    def suits(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - what does not run is nobody yet
        """Nothing."""
        yield from ()

    def inject(self, site: Site) -> Iterator[Deed]:
        """Start each by its service."""
        yield from each(self.servers(site), service.start)

    def verify(self, site: Site) -> Iterator[Fact]:
        """It runs and serves."""
        for server in self.servers(site):
            yield from server.back()


class Restart(ServiceStep, ABC):
    """Stopped and started again, one after the other; the next one only when this one serves again."""

    lasting: ClassVar[bool] = False

    pause: Duration = 0.0
    """How long to wait after one is back before the next one is stopped."""

    def harm(self, site: Site) -> Iterator[Harm]:
        """One at a time."""
        for server in self.servers(site):
            yield Harm(away=(server.node,))

    def before(self, site: Site) -> Iterator[Fact]:
        """All of them run, and are those that are meant."""
        for server in self.servers(site):
            yield server.running()
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Stop, see it gone, start, see it serve; then the next."""
        for number, server in enumerate(self.servers(site)):
            if number and self.pause:
                yield Pause(seconds=self.pause)
            yield Run(command=service.stop(server.process))
            yield server.gone(SHUTDOWN)
            yield Run(command=service.start(server.process))
            yield from server.back()

    def verify(self, site: Site) -> Iterator[Fact]:
        """All of them serve."""
        for server in self.servers(site):
            yield from server.back()

    def undo(self, site: Site) -> Iterator[Deed]:
        """Start what does not run: there is something to do only if the restart broke off half-way."""
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """All of them serve."""
        yield from self.verify(site)


class Freeze(ServiceStep, ABC):
    """Frozen with SIGSTOP: alive to the operating system, its connections open, silent to everybody."""

    lasting: ClassVar[bool] = True

    def before(self, site: Site) -> Iterator[Fact]:
        """It runs, is not frozen already, and is the one that is meant."""
        for server in self.servers(site):
            yield server.awake()
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """SIGSTOP to each."""
        yield from each(self.servers(site), lambda process: service.signal(process, "STOP"))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Its state is T, stopped by a signal."""
        for server in self.servers(site):
            yield server.frozen(SOON)

    def watch(self, site: Site) -> Iterator[Fact]:
        """It stays so, and nobody serves as it.

        That it does not answer takes as long to see as an answer may take: not asked before the undo, which would wait.
        """
        yield from super().watch(site)
        for server in self.servers(site):
            yield from server.away()

    def undo(self, site: Site) -> Iterator[Deed]:
        """SIGCONT; what died meanwhile is started."""
        yield from each(self.servers(site), service.resume)
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """It runs, and serves."""
        for server in self.servers(site):
            yield from server.back()
