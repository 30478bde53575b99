"""Kill servers with SIGKILL, or by the OOM killer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from chaosk.hosts.commands import service, supervisor
from chaosk.hosts.commands.reversible import Reversible, oom_kill
from chaosk.hosts.lease import lease_id
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.inventory import Inventory
from chaosk.steps._own_kernel import shared
from chaosk.steps._server import SOON, each
from chaosk.steps._service_steps import TakeDown


class KillServer(TakeDown):
    """Kill the process of a broker, a controller or a ZooKeeper node with SIGKILL: no clean shutdown.

    The operating system closes its connections. It takes once the process is gone and no other process listens in its
    place. Its supervisor is kept from restarting it while the fault lasts; a restart by anything else is noticed. The
    undo starts it and waits until it serves. With `restart: supervised` the supervisor may restart it, and it has to
    run again when the fault is over. With `how: oom_killer` the host's kernel kills it, as if memory were short (sysrq
    f, with the server as the likeliest victim). It then takes once the kernel's log confirms that, too. This is only
    for hosts with their own kernels.
    """

    example: ClassVar[str] = """\
at: 10s
kill: {target: "leader(orders, 0)"}
for: 30s
"""
    patience: ClassVar[float] = SOON

    restart: Literal["held", "supervised"] = "held"
    """``held``: its supervisor may not restart it before the fault ends; ``supervised``: its supervisor may restart it,
    and has to within ``for``."""
    how: Literal["sigkill", "oom_killer"] = "sigkill"
    """``sigkill``: by a signal; ``oom_killer``: by the kernel's OOM killer."""

    def refused(self, inventory: Inventory, host: str) -> str | None:
        """Refuse the OOM killer on a shared kernel, which would select a victim on the whole machine."""
        return shared(inventory, host) if self.how == "oom_killer" else None

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that the supervisor can be held, and that the kernel would kill this server and no other process."""
        yield from super().suits(site)
        for who, name, held in self._held(site):
            yield Fact(says=f"{who} can be kept from starting {name} again", query=held.fits)
        for name, killed in self._killed(site):
            yield Fact(says=f"the kernel would kill {name}, short of memory", query=killed.fits)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Hold or record the supervisor, then send the signal to each server, or trigger the OOM killer."""
        for _, _, held in self._held(site):
            yield Run(command=held.put)
        for server in self.servers(site) if self.restart == "supervised" else ():
            if (noted := supervisor.note(server.process, self._lease(site))) is not None:
                yield Run(command=noted)
        if self.how == "sigkill":
            yield from each(self.servers(site), service.kill)
        for _, killed in self._killed(site):
            yield Run(command=killed.put)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the server is gone and held, or has ended and runs again at the end; and for the right reason."""
        yield from self._stays_gone(site) if self.restart == "held" else self._returns(site)
        for name, killed in self._killed(site):
            says = f"the kernel has killed {name}, short of memory"
            yield Fact(says=says, query=killed.stands, within=SOON, steady=False)

    def _stays_gone(self, site: Site) -> Iterator[Fact]:
        yield from super().verify(site)
        for who, name, held in self._held(site):
            yield Fact(says=f"{who} does not start {name} again", query=held.stands, within=SOON)

    def _returns(self, site: Site) -> Iterator[Fact]:
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
        """Restore the oom_score_adj of a living process, release the supervisor, and start what does not run."""
        for _, killed in self._killed(site):
            yield Run(command=killed.lift)
        for _, _, held in self._held(site):
            yield Run(command=held.lift)
        yield from super().undo(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify the original oom_score_adj, that the supervisor is released, and that the server runs and serves."""
        for name, killed in self._killed(site):
            yield Fact(says=f"{name} is no likelier to be killed than before", query=killed.gone)
        for who, name, held in self._held(site):
            yield Fact(says=f"{who} starts {name} again as it did before", query=held.gone, within=SOON)
        yield from super().healed(site)

    def _held(self, site: Site) -> Iterator[tuple[str, str, Reversible]]:
        """Yield supervisor, server and hold for each server; nothing if its supervisor may restart it."""
        for server in self.servers(site) if self.restart == "held" else ():
            yield supervisor.who(server.process), server.name, supervisor.held(server.process, self._lease(site))

    def _killed(self, site: Site) -> Iterator[tuple[str, Reversible]]:
        """Yield name and OOM kill for each server; nothing for ``sigkill``."""
        for server in self.servers(site) if self.how == "oom_killer" else ():
            yield server.name, oom_kill(server.process, site.boot_id, self._lease(site))

    @staticmethod
    def _lease(site: Site) -> str:
        return lease_id(site.run_id, site.entry)
