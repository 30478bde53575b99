"""Kill brokers with SIGKILL, or by the OOM killer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Literal

from chaosk.hosts.commands import oom
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.inventory import Inventory, ServerProcess
from chaosk.steps._own_kernel import shared
from chaosk.steps._server import SOON, Role
from chaosk.steps._service_steps import Kill


class KillBroker(Kill):
    """Kill a broker's process with SIGKILL: no clean shutdown, and the operating system closes its connections.

    It takes once the process is gone and no other process listens in its place. Its supervisor is kept from restarting
    it while the fault lasts; a restart by anything else is noticed. The undo starts it and waits until it serves. With
    `restart: supervised` the supervisor may restart it, and it has to run again when the fault is over. With `how:
    oom_killer` the host's kernel kills it, as if memory were short (sysrq f, with the broker as the likeliest victim).
    It then takes once the kernel's log confirms that, too. This is only for hosts with their own kernels.
    """

    role: ClassVar[Role] = "broker"
    example: ClassVar[str] = """\
at: 10s
kill_broker: {target: "leader(orders, 0)"}
for: 30s
"""

    how: Literal["sigkill", "oom_killer"] = "sigkill"
    """``sigkill``: by a signal; ``oom_killer``: by the kernel's OOM killer."""

    def refused(self, inventory: Inventory, host: str) -> str | None:
        """Refuse the OOM killer on a shared kernel, which would select a victim on the whole machine."""
        return shared(inventory, host) if self.how == "oom_killer" else None

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that the kernel would kill this server and no other process, and that it can be held."""
        yield from super().suits(site)
        for name, query in self._asked(site, oom.fits):
            yield Fact(says=f"the kernel would kill {name}, short of memory", query=query)

    def kill(self, site: Site) -> Iterator[Deed]:
        """Send the signal, or trigger the OOM killer."""
        if self.how == "sigkill":
            yield from super().kill(site)
        for _, command in self._asked(site, oom.kill):
            yield Run(command=command)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the process is gone, and for the requested reason."""
        yield from super().verify(site)
        for name, query in self._asked(site, oom.is_killed):
            says = f"the kernel has killed {name}, short of memory"
            yield Fact(says=says, query=query, within=SOON, steady=False)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Restore the oom_score_adj of a process that is still alive, and start the servers that do not run."""
        for _, command in self._asked(site, oom.spare):
            yield Run(command=command)
        yield from super().undo(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the server runs and serves, with its original oom_score_adj."""
        for name, query in self._asked(site, oom.is_spared):
            yield Fact(says=f"{name} is no likelier to be killed than before", query=query)
        yield from super().healed(site)

    def _asked(self, site: Site, ask: Callable[[ServerProcess, str, str], Command]) -> Iterator[tuple[str, Command]]:
        """Yield name and command for each broker; nothing for ``sigkill``."""
        if self.how == "oom_killer":
            for server in self.servers(site):
                yield server.name, ask(server.process, site.boot_id, self._lease(site))
